//! Triangles to a terminal: a depth buffer, smoothed edges, two pixels per character.

use jostle::glam::{DVec3, Vec3};
use std::fmt::Write;

/// Each pixel is the mean of this many samples in each direction.
const SAMPLES: usize = 2;

/// How many colours the terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Palette {
    /// 24 bits per colour.
    Full,
    /// The 6×6×6 cube of xterm.
    Cube,
}

/// Where the eye is on the z axis; it looks towards -z.
const EYE: f64 = 5.5;

/// What touches shines through this much of what is in front of it (a factor on nearness).
const GLOW: f32 = 1.3;

/// A picture made of samples, seen from [`EYE`].
pub(crate) struct Picture {
    width: usize,
    height: usize,
    colours: Vec<Vec3>,
    /// One over the distance from the eye: larger is nearer, 0 is the background.
    nearness: Vec<f32>,
}

/// Where on the picture, and how near.
type Spot = [f32; 3];

impl Picture {
    /// An empty picture for a terminal of this many columns and rows.
    pub(crate) fn new(columns: usize, rows: usize) -> Picture {
        let (width, height) = (columns * SAMPLES, rows * 2 * SAMPLES);
        let sky = |y: usize| Vec3::new(0.008, 0.011, 0.022) * (1.4 - y as f32 / height as f32);
        let colours = (0..height).flat_map(|y| std::iter::repeat_n(sky(y), width)).collect();
        Picture { width, height, colours, nearness: vec![0.0; width * height] }
    }

    /// Draws a triangle of the world in the light of the lamps.
    pub(crate) fn draw(&mut self, corners: [DVec3; 3], colour: Vec3) {
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).as_vec3();
        self.fill(self.spots(corners), lit(colour, normal.normalize_or_zero()));
    }

    /// Draws a triangle that shines by itself and can be seen through others.
    pub(crate) fn glow(&mut self, corners: [DVec3; 3], colour: Vec3) {
        let spots = self.spots(corners).map(|[x, y, near]| [x, y, near * GLOW]);
        self.fill(spots, colour);
        // Small triangles slip between the samples, but their corners are somewhere.
        for [x, y, near] in spots {
            if x >= 0.0 && y >= 0.0 && x < self.width as f32 && y < self.height as f32 {
                self.set(x as usize, y as usize, near, colour);
            }
        }
    }

    fn spots(&self, corners: [DVec3; 3]) -> [Spot; 3] {
        let (width, height) = (self.width as f64, self.height as f64);
        let zoom = (0.9 * width).min(1.6 * height);
        corners.map(|corner| {
            let near = 1.0 / (EYE - corner.z);
            let x = width / 2.0 + zoom * corner.x * near;
            let y = height / 2.0 - zoom * corner.y * near;
            [x as f32, y as f32, near as f32]
        })
    }

    fn set(&mut self, x: usize, y: usize, near: f32, colour: Vec3) {
        let at = y * self.width + x;
        if near > self.nearness[at] {
            self.nearness[at] = near;
            self.colours[at] = colour;
        }
    }

    fn fill(&mut self, [a, b, c]: [Spot; 3], colour: Vec3) {
        let doubled_area = side(a, b, c);
        if doubled_area == 0.0 || [a, b, c].iter().any(|spot| spot[2] <= 0.0) {
            return; // seen edge-on, or behind the eye
        }
        let range = |axis: usize, end: usize| {
            let low = a[axis].min(b[axis]).min(c[axis]).max(0.0) as usize;
            let high = a[axis].max(b[axis]).max(c[axis]).max(-1.0) + 1.0;
            low..(high as usize).min(end)
        };
        for y in range(1, self.height) {
            for x in range(0, self.width) {
                let p = [x as f32 + 0.5, y as f32 + 0.5, 0.0];
                let weights = [side(b, c, p), side(c, a, p), side(a, b, p)];
                let [u, v, w] = weights.map(|weight| weight / doubled_area);
                let near = u * a[2] + v * b[2] + w * c[2];
                if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                    self.set(x, y, near, colour);
                }
            }
        }
    }

    /// Rows of half blocks: the upper pixel is the letter, the lower one its background.
    pub(crate) fn rows(&self, palette: Palette) -> Vec<String> {
        let pixel = |column: usize, row: usize| {
            let samples = (0..SAMPLES * SAMPLES).map(|i| {
                let (x, y) = (column * SAMPLES + i % SAMPLES, row * SAMPLES + i / SAMPLES);
                self.colours[y * self.width + x]
            });
            code(samples.sum::<Vec3>() / (SAMPLES * SAMPLES) as f32, palette)
        };
        let row_text = |row: usize| {
            let mut text = String::new();
            let mut last = None;
            for column in 0..self.width / SAMPLES {
                let now = (pixel(column, 2 * row), pixel(column, 2 * row + 1));
                if last.as_ref() != Some(&now) {
                    let _ = write!(text, "\x1b[38;{};48;{}m", now.0, now.1);
                    last = Some(now);
                }
                text.push('▀');
            }
            text + "\x1b[0m"
        };
        (0..self.height / (2 * SAMPLES)).map(row_text).collect()
    }
}

/// Twice the area of the triangle `abp`; the sign says on which side of `ab` the spot `p` lies.
fn side(a: Spot, b: Spot, p: Spot) -> f32 {
    (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
}

/// A warm lamp from the upper left, a cool one from the right, and a little light everywhere.
fn lit(colour: Vec3, normal: Vec3) -> Vec3 {
    let lamp = |x, y, z| normal.dot(Vec3::new(x, y, z).normalize()).max(0.0);
    let warm = Vec3::new(1.0, 0.95, 0.85) * lamp(-0.5, 0.8, 0.9);
    let cool = Vec3::new(0.25, 0.35, 0.5) * lamp(0.9, -0.2, 0.3);
    (colour * (Vec3::splat(0.12) + warm + cool)).min(Vec3::ONE)
}

/// The part of a control code that names a colour, from linear light.
fn code(colour: Vec3, palette: Palette) -> String {
    let [r, g, b] = colour.to_array().map(|part| part.clamp(0.0, 1.0).powf(1.0 / 2.2));
    match palette {
        Palette::Full => {
            let [r, g, b] = [r, g, b].map(|part| (part * 255.0).round());
            format!("2;{r};{g};{b}")
        }
        Palette::Cube => {
            let [r, g, b] = [r, g, b].map(|part| (part * 5.0).round());
            format!("5;{}", 16.0 + 36.0 * r + 6.0 * g + b)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACING: [DVec3; 3] =
        [DVec3::new(-9.0, -9.0, 0.0), DVec3::new(9.0, -9.0, 0.0), DVec3::new(0.0, 9.0, 0.0)];

    fn middle(picture: &Picture) -> Vec3 {
        picture.colours[(picture.height / 2) * picture.width + picture.width / 2]
    }

    #[test]
    fn the_nearer_triangle_is_seen_whatever_the_order() {
        let red_in_front = |order: [f64; 2]| {
            let mut picture = Picture::new(20, 10);
            for z in order {
                let colour = if z > 0.0 { Vec3::X } else { Vec3::Z };
                picture.draw(FACING.map(|corner| corner + DVec3::Z * z), colour);
            }
            let seen = middle(&picture);
            seen.x > 0.0 && seen.z == 0.0
        };
        assert!(red_in_front([1.0, -1.0]));
        assert!(red_in_front([-1.0, 1.0]));
    }

    #[test]
    fn what_is_behind_the_eye_or_outside_is_not_drawn() {
        let empty = middle(&Picture::new(20, 10));
        for shift in [DVec3::Z * 9.0, DVec3::X * 1e6, DVec3::Y * -1e6] {
            let mut picture = Picture::new(20, 10);
            picture.draw(FACING.map(|corner| corner + shift), Vec3::X);
            assert_eq!(middle(&picture), empty, "{shift}");
        }
    }

    #[test]
    fn rows_fill_the_terminal() {
        for palette in [Palette::Full, Palette::Cube] {
            let rows = Picture::new(20, 10).rows(palette);
            assert_eq!(rows.len(), 10);
            assert!(rows.iter().all(|row| row.matches('▀').count() == 20));
        }
        assert_eq!(code(Vec3::ONE, Palette::Full), "2;255;255;255");
        assert_eq!(code(Vec3::ONE, Palette::Cube), "5;231");
    }
}
