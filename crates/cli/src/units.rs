//! Units of length: parsing and printing.

/// A unit of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    /// Metres per unit.
    pub(crate) metres: f64,
    /// None for a unit that was given as a number.
    pub(crate) symbol: Option<&'static str>,
}

/// The units with names.
const NAMED: [(&str, f64); 8] = [
    ("um", 1e-6),
    ("mm", 0.001),
    ("cm", 0.01),
    ("m", 1.0),
    ("km", 1000.0),
    ("in", 0.0254),
    ("inch", 0.0254),
    ("ft", 0.3048),
];

impl Unit {
    pub(crate) const METRE: Unit = Unit { metres: 1.0, symbol: Some("m") };

    /// A unit by name.
    pub(crate) fn named(text: &str) -> Result<Unit, String> {
        let known = NAMED.iter().find(|(name, _)| *name == text);
        let known = known.map(|&(name, metres)| Unit { metres, symbol: Some(name) });
        known.ok_or_else(|| format!("expected um, mm, cm, m, km, in or ft, found {text:?}"))
    }

    /// A unit by name, or as metres per unit.
    pub(crate) fn parse(text: &str) -> Result<Unit, String> {
        match text.parse::<f64>() {
            Ok(metres) if metres.is_finite() && metres > 0.0 && metres as f32 > 0.0 => {
                Ok(Unit { metres, symbol: None })
            }
            Ok(_) => Err(format!("expected metres per unit, more than 0, found {text:?}")),
            Err(_) => Unit::named(text)
                .map_err(|expected| format!("{expected}; a number is taken as metres per unit")),
        }
    }
}

/// A length in metres: a plain number, or a number with a unit, such as `0.5mm`.
pub(crate) fn parse_length(text: &str) -> Result<f64, String> {
    let metres = signed_length(text);
    match metres {
        Some(length) if length.is_finite() && length >= 0.0 => Ok(length),
        _ => Err(format!("expected a length, 0 or more, such as 0.002 or 2mm, found {text:?}")),
    }
}

/// As [`parse_length`], also below 0; none if it is no length.
pub(crate) fn signed_length(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return Some(number);
    }
    let at = text.rfind(|c: char| c.is_ascii_digit() || c == '.')? + 1;
    let (number, unit) = text.split_at(at);
    Some(number.parse::<f64>().ok()? * Unit::named(unit.trim()).ok()?.metres)
}

/// How lengths are printed: in a unit if it is known which, with four significant digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    /// None: the files have no unit, and numbers are printed as they are.
    pub(crate) unit: Option<Unit>,
    /// Distances below this are rounding: 24 bits of the largest coordinate, in metres.
    pub(crate) noise: f64,
}

impl Lengths {
    /// Lengths of a scene with coordinates up to `reach`.
    pub(crate) fn new(unit: Option<Unit>, reach: f64) -> Lengths {
        Lengths { unit, noise: reach * f64::from(f32::EPSILON) * 0.5 }
    }

    fn metres(&self) -> f64 {
        self.unit.map_or(1.0, |unit| unit.metres)
    }

    /// The symbol of the unit, or `units`.
    pub(crate) fn symbol(&self) -> &'static str {
        self.unit.and_then(|unit| unit.symbol).unwrap_or("units")
    }

    /// A length as a number in the unit.
    pub(crate) fn number(&self, metres: f64) -> f64 {
        let unit = self.metres();
        if unit == 1.0 { metres } else { metres / unit }
    }

    /// A distance with its unit.
    pub(crate) fn distance(&self, metres: f64) -> String {
        if metres > 0.0 && metres < self.noise {
            let noise = digits(self.number(self.noise), 2);
            return format!("less than {noise} {} (the coordinates' rounding)", self.symbol());
        }
        format!("{} {}", digits(self.number(metres), 4), self.symbol())
    }

    /// A length that was asked for, with its unit and all its digits.
    pub(crate) fn given(&self, metres: f64) -> String {
        // Division may leave a last digit that was not there.
        let number = self.number(metres);
        let short: f64 = format!("{number:.12e}").parse().unwrap_or(number);
        format!("{short} {}", self.symbol())
    }

    /// A point, with the digits that single precision has at the far end of the scene.
    pub(crate) fn point(&self, point: [f64; 3]) -> String {
        let resolution = self.number(self.noise).max(f64::MIN_POSITIVE);
        let decimals = (-resolution.log10()).floor().clamp(0.0, 6.0) as usize;
        // Adding 0 turns -0 into 0.
        let number = |metres: f64| {
            let text = format!("{:.decimals$}", self.number(metres) + 0.0);
            if text.trim_start_matches(['-', '0', '.']).is_empty() { "0".into() } else { text }
        };
        let [x, y, z] = point.map(number);
        format!("({x}, {y}, {z})")
    }
}

/// A number with so many significant digits, without an exponent while it is readable so.
pub(crate) fn digits(number: f64, count: usize) -> String {
    if number == 0.0 || !number.is_finite() {
        return "0".to_string();
    }
    // Rounded first: 0.99996 has its first digit before the point.
    let rounded = format!("{number:.*e}", count - 1);
    let exponent = rounded.split_once('e').and_then(|(_, e)| e.parse::<i32>().ok()).unwrap_or(0);
    if !(-5..9).contains(&exponent) {
        return rounded;
    }
    let decimals = (count as i32 - 1 - exponent).max(0) as usize;
    format!("{number:.decimals$}")
}

/// A whole number with commas: `1,234,567`.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 part`, `2 parts`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", thousands(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_have_four_digits_and_a_unit_and_noise_is_no_distance() {
        let millimetres = Lengths::new(Some(Unit::named("mm").unwrap()), 2.0);
        assert_eq!(millimetres.distance(0.004_000_021), "4.000 mm");
        assert_eq!(millimetres.distance(0.000_123_456), "0.1235 mm");
        assert_eq!(millimetres.distance(12.345_678), "12346 mm");
        assert_eq!(millimetres.distance(0.0), "0 mm");
        let noise = millimetres.distance(1e-17);
        assert_eq!(noise, "less than 0.00012 mm (the coordinates' rounding)");
        let unknown = Lengths::new(None, 2.0);
        assert_eq!(unknown.distance(0.5), "0.5000 units");
        assert_eq!(unknown.point([1.0, -1e-17, 0.25]), "(1.000000, 0, 0.250000)");
        assert_eq!(millimetres.given(0.0006), "0.6 mm");
    }

    #[test]
    fn lengths_come_with_or_without_a_unit() {
        assert_eq!(parse_length("0.5"), Ok(0.5));
        assert_eq!(parse_length("2mm"), Ok(0.002));
        assert_eq!(parse_length("1e-3 m"), Ok(0.001));
        assert_eq!(parse_length("1in"), Ok(0.0254));
        for bad in ["", "mm", "-1", "-1mm", "1 furlong", "x", "inf", "NaN"] {
            assert!(parse_length(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Unit::parse("mm").unwrap().metres, 0.001);
        assert_eq!(Unit::parse("0.001").unwrap(), Unit { metres: 0.001, symbol: None });
        assert!(Unit::parse("0").is_err() && Unit::parse("x").is_err());
    }

    #[test]
    fn whole_numbers_have_commas_and_nouns_their_number() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!((thousands(0), thousands(999)), ("0".into(), "999".into()));
        assert_eq!(count(1, "body", "bodies"), "1 body");
        assert_eq!(count(1200, "body", "bodies"), "1,200 bodies");
    }
}
