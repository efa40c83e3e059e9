//! Options of commands that read scenes.

use crate::keys::KeyPress;
use crate::run::Send;
use crate::share::args::PageArgs;
use crate::units::Unit;
use clap::{Args, ValueEnum};
use glam::DVec3;
use jostle_scene::geometry::Tolerance;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The scene, and how it is read.
#[derive(Debug, Args)]
pub(crate) struct SceneArgs {
    /// The scene: VRML97 (.wrl, also compressed), glTF (.gltf, .glb), OBJ, STL or PLY
    pub(crate) scene: PathBuf,
    /// The unit of OBJ, STL and PLY files, which have none of their own: mm, cm, m, in, ft, or a
    /// number of metres; an error for glTF and VRML, which are in metres
    #[arg(long, value_name = "UNIT", value_parser = Unit::parse, help_heading = "Scene")]
    pub(crate) unit: Option<Unit>,
    /// The axis that points up in an OBJ, STL or PLY file
    #[arg(long, value_name = "AXIS", default_value = "y", help_heading = "Scene")]
    pub(crate) up: Up,
    /// How far triangles may be from true spheres, cylinders and cones, in their own units
    #[arg(long, value_name = "D", value_parser = parse_tolerance, help_heading = "Scene")]
    pub(crate) tolerance: Option<Tolerance>,
    /// Closed surfaces are solid: what lies inside touches them
    #[arg(long, help_heading = "Scene")]
    pub(crate) solid: bool,
    /// Support only the nodes of the VRML97 standard, not the collision nodes of V-COLLIDE and
    /// Ohlenburg
    #[arg(long, help_heading = "Scene")]
    pub(crate) standard_only: bool,
    /// Read and write the hierarchies that a scene names by `hierarchyFile`, in this folder only
    #[arg(long, value_name = "DIR", help_heading = "Scene")]
    pub(crate) hierarchies: Option<PathBuf>,
    /// Also read files that a scene or an assembly names outside its folder
    #[arg(long, help_heading = "Scene")]
    pub(crate) allow_outside: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

impl SceneArgs {
    /// A scene with default options.
    pub(crate) fn plain(scene: &Path) -> SceneArgs {
        SceneArgs {
            scene: scene.into(),
            unit: None,
            up: Up::Y,
            tolerance: None,
            solid: false,
            standard_only: false,
            hierarchies: None,
            allow_outside: false,
            json: false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) scene: SceneArgs,
    /// Number of steps [default: 100; with --view, until it is stopped]
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Length of a step in seconds
    #[arg(long, value_name = "S", default_value = "0.03125", value_parser = parse_length)]
    pub(crate) dt: f64,
    /// Press a key before a step: "STEP:KEY" or "STEP:KEY+Shift", where KEY is a letter, a name
    /// (Left, Up, Space, F1, …) or a key code of Qt 3; can be repeated
    #[arg(long, value_name = "PRESS", value_parser = KeyPress::parse)]
    pub(crate) key: Vec<KeyPress>,
    /// Send an event before a step: "STEP:NODE.FIELD=VALUE", or "STEP:NODE" to click on a
    /// TouchSensor; can be repeated
    #[arg(long, value_name = "EVENT", value_parser = Send::parse)]
    pub(crate) send: Vec<Send>,
    /// Velocity of the avatar, in metres per second along x, y and z
    #[arg(long, value_name = "\"X Y Z\"", value_parser = parse_vector, allow_hyphen_values = true)]
    pub(crate) walk: Option<DVec3>,
    /// Continuous collision detection: bodies stop at the first contact and pass through nothing
    #[arg(long)]
    pub(crate) continuous: bool,
    /// Write each step to a file, one JSON object per line
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) record: Option<PathBuf>,
    /// Print at most N events, the first ones; the others are counted. A file of --record has all
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = "Output")]
    pub(crate) max_events: usize,
    /// Print the events of all nodes, not only those of collisions and keys
    #[arg(long, help_heading = "Output")]
    pub(crate) node_events: bool,
    /// Show the scene on a page while it runs, in real time; keys pressed there go to its
    /// KeySensors
    #[arg(long, conflicts_with = "json", help_heading = "Page")]
    pub(crate) view: bool,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

/// The page of a command that shows what it reads.
#[derive(Debug, Args)]
pub(crate) struct ShownArgs {
    /// Address of the page
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7448", help_heading = "Page")]
    pub(crate) listen: SocketAddr,
    /// Do not open the page in a browser
    #[arg(long, help_heading = "Page")]
    pub(crate) no_open: bool,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// The default number of steps.
const STEPS: u64 = 100;

impl RunArgs {
    /// The maximum number of steps.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.unwrap_or(if self.view { u64::MAX } else { STEPS })
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Up {
    Y,
    Z,
}

impl From<Up> for jostle_scene::Up {
    fn from(up: Up) -> jostle_scene::Up {
        match up {
            Up::Y => jostle_scene::Up::Y,
            Up::Z => jostle_scene::Up::Z,
        }
    }
}

fn parse_length(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(length) if length.is_finite() && length >= 0.0 => Ok(length),
        _ => Err(format!("expected a number, 0 or more, found {text:?}")),
    }
}

fn parse_tolerance(text: &str) -> Result<Tolerance, String> {
    let number = text.parse::<f64>().map_err(|_| format!("expected a length, found {text:?}"))?;
    Tolerance::absolute(number).map_err(|error| error.to_string())
}

fn parse_vector(text: &str) -> Result<DVec3, String> {
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    match numbers.as_deref() {
        Ok([x, y, z]) if [x, y, z].iter().all(|number| number.is_finite()) => {
            Ok(DVec3::new(*x, *y, *z))
        }
        _ => Err(format!("expected three numbers, found {text:?}")),
    }
}
