//! Keys by name. The codes are those of Qt 3, which a `KeySensor` uses (Ohlenburg 2003, C.3: "The
//! values are identical to the keyboard codes of Trolltech Qt's").

use jostle_scene::Key;

/// A key, and the step before which it is pressed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyPress {
    pub(crate) step: u64,
    pub(crate) key: Key,
}

/// Qt::Key of the keys that are not characters.
const NAMED: [(&str, i32); 22] = [
    ("space", 0x20),
    ("escape", 0x1000),
    ("tab", 0x1001),
    ("backspace", 0x1003),
    ("return", 0x1004),
    ("enter", 0x1005),
    ("insert", 0x1006),
    ("delete", 0x1007),
    ("pause", 0x1008),
    ("home", 0x1010),
    ("end", 0x1011),
    ("left", 0x1012),
    ("up", 0x1013),
    ("right", 0x1014),
    ("down", 0x1015),
    ("prior", 0x1016),
    ("pageup", 0x1016),
    ("next", 0x1017),
    ("pagedown", 0x1017),
    ("shift", 0x1020),
    ("control", 0x1021),
    ("alt", 0x1023),
];

/// Qt::Key of F1; the other function keys follow.
const F1: i32 = 0x1030;

/// Qt::ButtonState of keys that are held.
const HELD: [(&str, i32); 4] =
    [("shift", 0x100), ("control", 0x200), ("alt", 0x400), ("meta", 0x800)];

impl KeyPress {
    /// `STEP:KEY` with any number of `+Shift`, `+Control`, `+Alt`, `+Meta` after it.
    pub(crate) fn parse(text: &str) -> Result<KeyPress, String> {
        let expected = || format!("expected STEP:KEY, as in 10:Left or 5:A+Shift, found {text:?}");
        let (step, key) = text.split_once(':').ok_or_else(expected)?;
        let step = step.trim().parse().map_err(|_| expected())?;
        // The key "+" is a key, not a separator.
        let (name, held) = match key.strip_prefix('+') {
            Some(rest) => ("+", rest),
            None => key.split_at(key.find('+').unwrap_or(key.len())),
        };
        let value = code(name.trim())
            .ok_or_else(|| format!("no key is called {:?}, in {text:?}", name.trim()))?;
        let mut state = 0;
        for name in held.split('+').map(str::trim).filter(|name| !name.is_empty()) {
            let known = HELD.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            state |= known.ok_or_else(|| format!("{name:?} is no key to hold, in {text:?}"))?.1;
        }
        Ok(KeyPress { step, key: Key { value, state } })
    }
}

/// The name of a key, as on the command line.
pub(crate) fn name(value: i32, state: i32) -> String {
    let named = NAMED.iter().find(|(_, code)| *code == value).map(|(name, _)| name.to_string());
    let letter = || {
        let one = char::from_u32(u32::try_from(value).ok()?)?;
        one.is_ascii_graphic().then(|| one.to_string())
    };
    let function = || (F1..F1 + 35).contains(&value).then(|| format!("F{}", value - F1 + 1));
    let mut name =
        named.or_else(letter).or_else(function).unwrap_or_else(|| format!("0x{value:x}"));
    for (held, _) in HELD.iter().filter(|(_, bit)| state & bit != 0) {
        name = format!("{name}+{held}");
    }
    name
}

fn code(name: &str) -> Option<i32> {
    let mut characters = name.chars();
    if let (Some(one), None) = (characters.next(), characters.next())
        && one.is_ascii_graphic()
    {
        return Some(one.to_ascii_uppercase() as i32);
    }
    if let Some((_, code)) = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Some(*code);
    }
    if let Some(number) = name.strip_prefix(['F', 'f']).and_then(|rest| rest.parse::<i32>().ok())
        && (1..=35).contains(&number)
    {
        return Some(F1 + number - 1);
    }
    match name.strip_prefix("0x") {
        Some(digits) => i32::from_str_radix(digits, 16).ok(),
        None => name.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_codes_of_qt() {
        let parsed = |text: &str| {
            KeyPress::parse(text).map(|press| (press.step, press.key.value, press.key.state))
        };
        assert_eq!(parsed("0:Left"), Ok((0, 0x1012, 0)));
        assert_eq!(parsed("3:a"), Ok((3, 65, 0)));
        assert_eq!(parsed("3:A+Shift+Alt"), Ok((3, 65, 0x500)));
        assert_eq!(parsed("7:+"), Ok((7, 43, 0)));
        assert_eq!(parsed("7:F12"), Ok((7, 0x103b, 0)));
        assert_eq!(parsed("7:0x1013"), Ok((7, 0x1013, 0)));
        assert_eq!(parsed("7:4115"), Ok((7, 4115, 0)));
        for text in ["0:left", "0:A+shift+alt", "0:+", "0:F12", "0:0x1234+control"] {
            let (_, value, state) = parsed(text).unwrap();
            assert_eq!(format!("0:{}", name(value, state)), text);
        }
        for bad in ["Left", "x:Left", "1:", "1:Nowhere", "1:A+Sideways", "1:F99"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
