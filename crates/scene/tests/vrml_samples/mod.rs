//! Small VRML97 files, written here, and what several tests do with them.
#![allow(dead_code, reason = "each test file uses its own part")]

use jostle_scene::nodes::Kind;
use jostle_scene::{
    Extensions, Fetched, LoadError, NodeId, Opened, Place, Reading, Scene, Warning, read,
};

pub(crate) const HEADER: &str = "#VRML V2.0 utf8\n";

/// Reads a text that follows the header, without other files.
pub(crate) fn try_text(text: &str) -> Result<Opened, LoadError> {
    read("test.wrl", format!("{HEADER}{text}").as_bytes(), &mut Reading::default())
}

pub(crate) fn text(text: &str) -> Opened {
    try_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn error(text: &str) -> LoadError {
    match try_text(text) {
        Err(error) => error,
        Ok(_) => panic!("read without an error:\n{text}"),
    }
}

/// Reads the first of some files, which may bring in the others.
pub(crate) fn try_files(
    files: &[(&str, &str)],
    extensions: Extensions,
) -> Result<Opened, LoadError> {
    let mut fetch = |url: &str, _: &str| {
        let found = files.iter().find(|(name, _)| *name == url);
        let (name, text) = found.ok_or_else(|| "not there".to_string())?;
        Ok(Fetched { name: name.to_string(), bytes: format!("{HEADER}{text}").into_bytes() })
    };
    let mut reading = Reading { fetch: Some(&mut fetch), extensions, ..Reading::default() };
    read(files[0].0, format!("{HEADER}{}", files[0].1).as_bytes(), &mut reading)
}

pub(crate) fn column(line: usize, column: usize) -> Place {
    Place::Column { line, column }
}

pub(crate) fn messages(opened: &Opened) -> Vec<String> {
    opened.warnings.iter().map(Warning::to_string).collect()
}

/// The only node of a kind.
pub(crate) fn only(scene: &Scene, kind: &str) -> NodeId {
    let mut found = scene.nodes().filter(|(_, node)| node.kind.name() == kind);
    let (id, _) = found.next().unwrap_or_else(|| panic!("no {kind}"));
    assert!(found.next().is_none(), "several {kind}");
    id
}

/// The node behind a name, through prototypes.
pub(crate) fn kind<'s>(scene: &'s Scene, name: &str) -> &'s Kind {
    scene.find(name).and_then(|id| scene.kind(id)).unwrap_or_else(|| panic!("no {name}"))
}

/// Routes as `kind.field -> kind.field`, for reading.
pub(crate) fn routes(scene: &Scene) -> Vec<String> {
    let end = |(id, field): (NodeId, usize)| {
        let node = scene.node(id);
        let name = node.name.as_deref().unwrap_or(node.kind.name());
        format!("{name}.{}", node.kind.fields()[field].name)
    };
    scene.routes().iter().map(|route| format!("{} -> {}", end(route.from), end(route.to))).collect()
}

/// V-COLLIDE, figure 2, letter by letter.
pub(crate) const FIGURE_2: &str = r#"EXTERNPROTO CollisionObject
[ eventIn MFNode addChildren
  eventIn MFNode removeChildren
  eventIn MFNode addIgnoredObjects
  eventIn MFNode removeIgnoredObjects
  exposedField MFNode children
  exposedField MFNode ignoredObjects
  exposedField SFBool collide
  field SFVec3f bboxCenter
  field SFVec3f bboxSize
  field SFNode proxy
  eventOut SFTIME collideTime
  eventOut MFNode collideObjects ]
{ "URN:edu.unc.cs:geom:CollisionObject:1"
  "CollisionObject.wrl" }
"#;

/// V-COLLIDE, figure 3, letter by letter.
pub(crate) const FIGURE_3: &str = r#"PROTO CollisionObject
[ eventIn MFNode addChildren
  eventIn MFNode removeChildren
  eventIn MFNode addIgnoredObjects
  eventIn MFNode removeIgnoredObjects
  exposedField MFNode children []
  exposedField MFNode ignoredObjects []
  exposedField SFBool collide TRUE
  field SFVec3f bboxCenter 0 0 0
  field SFVec3f bboxSize -1 -1 -1
  field SFNode proxy NULL
  eventOut SFTIME collideTime
  eventOut MFNode collideObjects ] {

Collision {
  addChildren IS addChildren
  removeChildren IS removeChildren
  children IS children
  collide IS collide
  bboxCenter IS bboxCenter
  bboxSize IS bboxSize
  proxy IS proxy
  collideTime IS collideTime
}

Group {
  children IS collideObjects
}

Group {
  addChildren IS addIgnoredObjects
  removeChildren IS removeIgnoredObjects
  children IS ignoredObjects
}
}
"#;

/// V-COLLIDE, figure 4, with something for the dots and without the blank in `ignored Objects`.
pub(crate) const FIGURE_4: &str = "DEF FOO CollisionObject {
  children Shape { geometry Box { } }
  ignoredObjects [
    DEF BAR CollisionObject {
      children Shape { geometry Sphere { } }
      ignoredObjects [ USE FOO ]
    }
  ]
}
USE BAR
";

/// Ohlenburg, listing 3.3, with its header.
pub(crate) const LISTING_3_3: &str = r#"# VRML V2.0 utf8

Transform {
  children [
    DEF AL Inline {
      url "Al.wrl"
    }
    DEF MUSTANG Inline {
      url "Mustang.wrl"
    }
  ]
}

CollisionInterest {
  objectPath      "AL"
  collisionInterests [ "MUSTANG" ]
  collisionType   1          # CDT_WITNESS
}
"#;

const MESH: &str = "DEF M Transform { translation 1 2.5 -3e-1 rotation 0 0 1 1.57
  children [ Shape { appearance DEF A Appearance { material Material { diffuseColor 1 0 0 } }
    geometry IndexedFaceSet { coord DEF C Coordinate { point [ 0 0 0, 1 0 0, 1 1 0, 0 1 0 ] }
      coordIndex [ 0 1 2 3 -1 0, 2, 1 ] solid FALSE creaseAngle 0.5 } } # a comment
    Shape { appearance USE A geometry PointSet { coord USE C } } ] }
";

const MOTION: &str = "DEF T TimeSensor { loop TRUE cycleInterval 2.5 }
DEF P PositionInterpolator { key [ 0, .5, 1 ] keyValue [ 0 0 0, 1 0 0, 0 0 0 ] }
DEF O OrientationInterpolator { key [ 0 1 ] keyValue [ 0 1 0 0, 0 1 0 3.14 ] }
DEF X Transform { children Shape { geometry Box { size 1 1 1 } } }
ROUTE T.fraction_changed TO P.set_fraction
ROUTE T.fraction_changed TO O.set_fraction
ROUTE P.value_changed TO X.set_translation
ROUTE O.value_changed TO X.rotation
";

const PROTOTYPES: &str = "PROTO Ball [ field SFFloat size 1 exposedField SFVec3f at 0 0 0
  field MFNode more [] field SFNode look Appearance { } eventOut SFVec3f moved ] {
  PROTO Inner [ field SFFloat r 1 ] { Sphere { radius IS r } }
  DEF T Transform { translation IS at translation_changed IS moved children [
    Shape { appearance IS look geometry Inner { r IS size } } Group { children IS more } ] }
  DEF S TimeSensor { } ROUTE S.isActive TO S.enabled }
DEF B1 Ball { size 2 at 1 1 1 more [ DEF IN Group { } USE IN ] }
DEF B2 Ball { look NULL }
ROUTE B1.moved TO B2.set_at
";

const SCRIPT: &str = "PROTO S [ eventIn SFTime go field SFString text \"hi\" ] {
  DEF C Script { eventIn SFTime go IS go field SFString text IS text eventOut SFBool done
    field SFNode self USE C field MFInt32 list [ 1 0x1F -3 ] directOutput TRUE
    url \"javascript: function go(v) { text = \\\"a \\\\ b\\\"; } // }\" } }
DEF X S { text \"there\" } DEF T TouchSensor { } ROUTE T.touchTime TO X.go
";

const UNKNOWN: &str = "DEF U NurbsSurface { knots [ 0 0 1 1 ] text \"}\" # }
  inside Foo { bar [ Baz { } ] } }
Transform { fancy 1 2 3 spin \"a\" glow TRUE inner Foo { } list [ 1 [ 2 ] ] children USE U }
ROUTE U.a TO U.b
";

const COLLISION_NODES: &str = "DEF BALL Transform { velocityVector 1 0 0 enslaved TRUE remote 0
  collisionResponse CollisionResponse { responseType 1 setBack FALSE }
  children Shape { convexHull [ 0 0 0, 1 1 1 ] hierarchyFile \"x\" splitThreshold 4
    geometry Sphere { } } }
CollisionInterest { objectPath \"BALL\" interests [ \"WALL\" \"FLOOR\" ] collisionType 2 }
DEF K KeySensor { keyValue 4114 value 0 0 1 recipient \"BALL\" } ROUTE K.keyHit TO K.enabled
";

const EVERYTHING: &str = "WorldInfo { title \"x\" info [ \"a\", \"b\" ] }
NavigationInfo { avatarSize [ 0.25 1.6 0.75 ] type \"WALK\" }
Switch { whichChoice 0 choice [ LOD { range 5 level [ Group { } Anchor { url \"#a\" } ] } ] }
Collision { collide FALSE proxy Shape { } children Billboard { } }
Shape { appearance Appearance { texture PixelTexture { image 2 1 3 0xFF0000 255 } }
  geometry ElevationGrid { xDimension 2 zDimension 2 height [ 0 1 2 3 ] } }
Shape { geometry Extrusion { spine [ 0 0 0 0 1 0 ] crossSection [ 1 0 0 1 -1 0 1 0 ] } }
Shape { geometry Text { string [ \"caf\u{e9}\" \"\" ] length [ ] } } Cone { } Cylinder { }
Sound { source AudioClip { startTime 1e9 } } Background { skyColor [ 0 0 1 ] }
";

const NESTED: &str = "Group { children Group { children [ Group { children Group { children
  [ PROTO A [ ] { Box { } } Shape { geometry A { } } ROUTE X.y TO X.z ] } } ] } }
EXTERNPROTO E [ field SFInt32 n exposedField MFString s ] [ \"gone.wrl#E\" \"urn:gone\" ]
DEF X E { n 3 s [ \"a\" ] } Inline { url [ \"none.wrl\" ] bboxSize 1 1 1 }
";

/// All samples: name and bytes.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let with_header = |text: &str| format!("{HEADER}{text}").into_bytes();
    let figures = format!("{FIGURE_2}{FIGURE_4}");
    let own = format!("{FIGURE_3}{FIGURE_4}");
    let mac = format!("\u{feff}{HEADER}{MESH}").replace('\n', "\r");
    vec![
        ("mesh", with_header(MESH)),
        ("mesh with byte order mark and old line ends", mac.into_bytes()),
        ("motion", with_header(MOTION)),
        ("prototypes", with_header(PROTOTYPES)),
        ("script", with_header(SCRIPT)),
        ("unknown", with_header(UNKNOWN)),
        ("collision-nodes", with_header(COLLISION_NODES)),
        ("everything", with_header(EVERYTHING)),
        ("nested", with_header(NESTED)),
        ("V-COLLIDE figures 2 and 4", with_header(&figures)),
        ("V-COLLIDE figures 3 and 4", with_header(&own)),
        ("Ohlenburg listing 3.3", LISTING_3_3.as_bytes().to_vec()),
        ("empty", b"#VRML V2.0 utf8".to_vec()),
    ]
}
