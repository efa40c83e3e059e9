//! Two bumpy rings turning through each other in the terminal, with the time of every question.
//!
//! `cargo xtask demo turning` runs it. `--frames N` ends after N frames; `--plain` prints lines of
//! text, which is also what happens when the output is not a terminal. `q` ends it.

use crossterm::event::{self, Event, KeyCode, KeyModifiers};
use crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute};
use jostle::glam::{DQuat, DVec3, Vec3};
use jostle::solids::{BumpyTorus, SolidError};
use jostle::{Mesh, Model, Pair, Pose, PoseError, Quality};
use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

mod picture;
use picture::{Palette, Picture};

const FRAMES_PER_SECOND: u32 = 30;
const FRAMES: usize = 20 * FRAMES_PER_SECOND as usize;
const PLAIN_FRAMES: usize = 8;
const PANEL_ROWS: usize = 4;
const COLOURS: [Vec3; 2] = [Vec3::new(0.10, 0.45, 0.55), Vec3::new(0.75, 0.50, 0.12)];
const TOUCHING: Vec3 = Vec3::new(1.0, 0.05, 0.03);

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options = parse(&words)?;
    let mut show = Show::new()?;
    if options.plain || !io::stdout().is_terminal() {
        return show.print(options.frames.unwrap_or(PLAIN_FRAMES));
    }
    let screen = Screen::open()?;
    let outcome = show.play(options.frames.unwrap_or(FRAMES));
    drop(screen);
    println!("{}", show.panel().join("\n"));
    outcome
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    frames: Option<usize>,
    plain: bool,
}

fn parse(words: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--plain" => options.plain = true,
            "--frames" => {
                let number = words.next().and_then(|text| text.parse().ok());
                options.frames = Some(number.ok_or("--frames needs a whole number")?);
            }
            other => return Err(format!("expected --frames N or --plain, found `{other}`")),
        }
    }
    Ok(options)
}

/// How long one kind of question took.
#[derive(Default)]
struct Clock {
    last: Option<Duration>,
    sum: Duration,
    count: u32,
}

impl Clock {
    fn time<T>(&mut self, question: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let answer = question();
        let spent = begin.elapsed();
        self.last = Some(spent);
        self.sum += spent;
        self.count += 1;
        answer
    }

    fn text(&self) -> String {
        let us = |time: Duration| format!("{:8.1} µs", time.as_secs_f64() * 1e6);
        let last = self.last.map_or_else(|| format!("{:>11}", "-"), us);
        let mean = if self.count == 0 { String::new() } else { us(self.sum / self.count) };
        format!("{last}   mean {mean}")
    }
}

/// The two bodies, what was found about them last, and how long it took.
struct Show {
    models: [Model; 2],
    poses: [Pose; 2],
    /// Touching faces of each body.
    touching: [BTreeSet<u32>; 2],
    face_pairs: usize,
    distance: Option<f64>,
    touch: Clock,
    pairs: Clock,
    apart: Clock,
}

impl Show {
    fn new() -> Result<Show, Box<dyn Error>> {
        let model = || Ok::<_, SolidError>(Model::build(ring([140, 70])?, Quality::Default));
        let poses = poses(0)?;
        let [touch, pairs, apart] = [(); 3].map(|()| Clock::default());
        let models = [model()?, model()?];
        let touching = [BTreeSet::new(), BTreeSet::new()];
        Ok(Show { models, poses, touching, face_pairs: 0, distance: None, touch, pairs, apart })
    }

    /// Moves the bodies and asks: do they touch? If so, which faces; if not, how far apart?
    fn step(&mut self, frame: usize) -> Result<(), PoseError> {
        self.poses = poses(frame)?;
        let pair = Pair::new(&self.models[0], &self.poses[0], &self.models[1], &self.poses[1]);
        let mut face_pairs = Vec::new();
        self.distance = None;
        if self.touch.time(|| pair.touches()) {
            face_pairs = self.pairs.time(|| pair.all_pairs());
            self.apart.last = None;
        } else {
            self.distance = self.apart.time(|| pair.distance()).map(|found| found.distance);
            self.pairs.last = None;
        }
        self.face_pairs = face_pairs.len();
        self.touching[0] = face_pairs.iter().map(|faces| faces.a).collect();
        self.touching[1] = face_pairs.iter().map(|faces| faces.b).collect();
        Ok(())
    }

    fn answer(&self) -> String {
        match (self.face_pairs, self.distance) {
            (0, Some(distance)) => format!("apart by {distance:.4}"),
            (0, None) => "apart".into(),
            (pairs, _) => format!("touching, {pairs} face pairs"),
        }
    }

    fn panel(&self) -> [String; PANEL_ROWS] {
        let [a, b] = [0, 1].map(|i| self.models[i].mesh().triangle_count());
        [
            format!(" {:<30} {a} and {b} triangles", self.answer()),
            format!(" touches?   {}", self.touch.text()),
            format!(" all pairs  {}", self.pairs.text()),
            format!(" distance   {}", self.apart.text()),
        ]
    }

    /// Lines of text for pipes, files and tests.
    fn print(&mut self, frames: usize) -> Result<(), Box<dyn Error>> {
        for frame in 0..frames {
            // Large strides, so that a few lines show different answers.
            self.step(frame * 25)?;
            println!("frame {:3}: {}", frame * 25, self.answer());
        }
        println!("{}", self.panel()[1..].join("\n"));
        Ok(())
    }

    /// The moving picture.
    fn play(&mut self, frames: usize) -> Result<(), Box<dyn Error>> {
        let full = std::env::var("COLORTERM").is_ok_and(|x| x == "truecolor" || x == "24bit");
        let palette = if full { Palette::Full } else { Palette::Cube };
        let begin = Instant::now();
        for frame in 0..frames {
            self.step(frame)?;
            let (columns, rows) = terminal::size()?;
            let picture = self.draw(columns.into(), usize::from(rows).saturating_sub(PANEL_ROWS));
            let mut lines = picture.rows(palette);
            lines.extend(self.panel());
            // Home, then each line with the rest of it cleared: no flicker, nothing left over.
            let text: Vec<String> = lines.iter().map(|line| format!("{line}\x1b[K")).collect();
            let lamp = if self.face_pairs > 0 { "\x1b[31m●" } else { "\x1b[32m●" };
            let lamp_row = lines.len() + 1 - PANEL_ROWS;
            let mut out = io::stdout().lock();
            write!(out, "\x1b[H{}\x1b[{lamp_row};1H{lamp}\x1b[0m", text.join("\r\n"))?;
            out.flush()?;
            let next_frame = Duration::from_secs(1) * (frame as u32 + 1) / FRAMES_PER_SECOND;
            if asked_to_end(next_frame.saturating_sub(begin.elapsed()))? {
                break;
            }
        }
        Ok(())
    }

    fn draw(&self, columns: usize, rows: usize) -> Picture {
        let mut picture = Picture::new(columns, rows);
        for (body, own_colour) in COLOURS.into_iter().enumerate() {
            let mesh = self.models[body].mesh();
            let place = |vertex: &Vec3| self.poses[body].transform_point(*vertex);
            let placed: Vec<DVec3> = mesh.vertices().iter().map(place).collect();
            for (number, corners) in (0u32..).zip(mesh.triangles()) {
                let corners = corners.map(|corner| placed[corner as usize]);
                if self.touching[body].contains(&mesh.face_of(number)) {
                    picture.glow(corners, TOUCHING);
                } else {
                    picture.draw(corners, own_colour);
                }
            }
        }
        picture
    }
}

fn ring(cells: [u32; 2]) -> Result<Mesh, SolidError> {
    let waves = BumpyTorus { amplitude: 0.12, waves: 7.0, ..BumpyTorus::plain(1.0, 0.32, cells) };
    waves.mesh()
}

/// The way of the two rings: each turns about its own axis while they swing to and fro, so that
/// they are apart, touch, and hang through each other without touching.
fn poses(frame: usize) -> Result<[Pose; 2], PoseError> {
    let time = frame as f64 / f64::from(FRAMES_PER_SECOND);
    let tilt = DQuat::from_rotation_x(-0.9);
    let first = DQuat::from_axis_angle(DVec3::new(0.2, 1.0, 0.1).normalize(), 0.5 * time) * tilt;
    let second = DQuat::from_axis_angle(DVec3::new(1.0, 0.3, 0.4).normalize(), 0.7 * time);
    let half_way = DVec3::new(0.95 + 0.5 * (0.8 * time).cos(), 0.15 * (0.6 * time).sin(), 0.0);
    Ok([Pose::new(first, -half_way)?, Pose::new(second, half_way)?])
}

/// Waits for at most `time`; was `q`, Escape or Ctrl-C pressed?
fn asked_to_end(time: Duration) -> io::Result<bool> {
    if !event::poll(time)? {
        return Ok(false);
    }
    let Event::Key(key) = event::read()? else { return Ok(false) };
    let interrupt = key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
    Ok(interrupt || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc))
}

/// The terminal while it shows the picture; put back as it was in the end, however it ends.
struct Screen;

impl Screen {
    fn open() -> io::Result<Screen> {
        terminal::enable_raw_mode()?;
        let screen = Screen;
        execute!(io::stdout(), EnterAlternateScreen, cursor::Hide)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nothing can be done about a terminal that is gone.
        let _ = execute!(io::stdout(), cursor::Show, LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle::triangle::triangles_touch;

    #[test]
    fn options_are_read_and_nonsense_is_named() {
        let parse = |text: &str| parse(&text.split(' ').map(String::from).collect::<Vec<_>>());
        let expected = Options { frames: Some(3), plain: true };
        assert_eq!(parse("--frames 3 --plain"), Ok(expected));
        assert!(parse("--frames many").is_err_and(|message| message.contains("--frames")));
        assert!(parse("fast").is_err_and(|message| message.contains("`fast`")));
    }

    /// Every triangle of one ring against every one of the other.
    fn touch_by_brute_force(mesh: &Mesh, poses: &[Pose; 2]) -> bool {
        let placed = |pose: &Pose| -> Vec<[DVec3; 3]> {
            let place = |corner: u32| pose.transform_point(mesh.vertices()[corner as usize]);
            mesh.triangles().iter().map(|corners| corners.map(place)).collect()
        };
        let [first, second] = [placed(&poses[0]), placed(&poses[1])];
        first.iter().any(|a| second.iter().any(|b| triangles_touch(a, b)))
    }

    #[test]
    fn the_rings_touch_and_part_on_their_way() {
        let mesh = ring([24, 12]).expect("a ring is a mesh");
        let mut seen = [0, 0];
        for frame in (0..FRAMES).step_by(20) {
            let poses = poses(frame).expect("the poses are finite");
            seen[usize::from(touch_by_brute_force(&mesh, &poses))] += 1;
        }
        assert!(seen[0] > 3 && seen[1] > 3, "apart and touching: {seen:?}");
    }
}
