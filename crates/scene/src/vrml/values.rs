//! The values of fields (ISO/IEC 14772-1, clause 5).

use super::lexer::ends_word;
use super::numbers::{self, Decimal};
use super::parser::Parser;
use crate::error::{LoadError, found};
use crate::scene::{FieldType, Image, List, Rgb, Rotation, Value};
use glam::{Vec2, Vec3};
use std::sync::Arc;

impl<'s> Parser<'s, '_> {
    /// A value of any type but SFNode and MFNode, which are no plain values.
    pub(super) fn value(&mut self, ty: FieldType) -> Result<Value, LoadError> {
        Ok(match ty {
            FieldType::Bool => Value::Bool(self.bool()?),
            FieldType::Color => Value::Color(self.color()?),
            FieldType::Float => Value::Float(self.float()?),
            FieldType::Image => Value::Image(Arc::new(self.image()?)),
            FieldType::Int => Value::Int(self.int()?),
            FieldType::Rotation => Value::Rotation(self.rotation()?),
            FieldType::String => Value::String(self.string()?),
            FieldType::Time => Value::Time(self.time()?),
            FieldType::Vec2 => Value::Vec2(self.vec2()?),
            FieldType::Vec3 => Value::Vec3(self.vec3()?),
            FieldType::Colors => Value::Colors(self.list(Self::color)?),
            FieldType::Floats => Value::Floats(self.list(Self::float)?),
            FieldType::Ints => Value::Ints(self.list(Self::int)?),
            FieldType::Rotations => Value::Rotations(self.list(Self::rotation)?),
            FieldType::Strings => Value::Strings(self.list(Self::string)?),
            FieldType::Times => Value::Times(self.list(Self::time)?),
            FieldType::Vec2s => Value::Vec2s(self.list(Self::vec2)?),
            FieldType::Vec3s => Value::Vec3s(self.list(Self::vec3)?),
            FieldType::Node | FieldType::Nodes => ty.zero(),
        })
    }

    /// MFVec3f as the points of a mesh: numbers that do not fit 24 bits are counted.
    pub(super) fn points(&mut self) -> Result<Value, LoadError> {
        Ok(Value::Vec3s(self.list(|parser| {
            Ok(Vec3::new(parser.coordinate()?, parser.coordinate()?, parser.coordinate()?))
        })?))
    }

    /// `[ … ]`, or one value without brackets.
    fn list<T>(
        &mut self,
        element: impl Fn(&mut Self) -> Result<T, LoadError>,
    ) -> Result<List<T>, LoadError> {
        if self.lexer.peek() != Some(b'[') {
            return Ok(Arc::new(vec![element(self)?]));
        }
        let mut list = Vec::new();
        self.until_bracket(|parser| {
            list.push(element(parser)?);
            parser.report_progress();
            Ok(())
        })?;
        list.shrink_to_fit();
        Ok(Arc::new(list))
    }

    /// From `[`, which is next, to `]`: calls `element` as long as there is something before it.
    pub(super) fn until_bracket(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let open = self.lexer.at();
        self.lexer.advance(1);
        loop {
            match self.lexer.peek() {
                Some(b']') => break,
                None => return Err(self.unclosed(open, "]")),
                _ => element(self)?,
            }
        }
        self.lexer.advance(1);
        Ok(())
    }

    /// The next number with its text, not gone past yet.
    #[inline]
    fn decimal(&mut self) -> Option<(Decimal, &'s [u8])> {
        self.lexer.peek();
        let rest = self.lexer.rest();
        let decimal = numbers::scan(rest)?;
        if !ends_word(rest.get(decimal.length)) {
            self.runs_on(&decimal);
        }
        let word = rest.get(..decimal.length)?;
        Some((decimal, word))
    }

    /// `10-1` and `.3diffuseColor`: the standard separates words by blanks, but a number has a
    /// clear end without.
    #[cold]
    fn runs_on(&mut self, decimal: &Decimal) {
        if !numbers::is_number(self.lexer.word_here()) {
            let end = self.lexer.at() + decimal.length as u32;
            self.source.mended("no blank after a number", end);
        }
    }

    #[inline]
    fn float(&mut self) -> Result<f32, LoadError> {
        self.number(|_, decimal, word| Some(decimal.single(word)).filter(|value| value.is_finite()))
    }

    #[inline]
    fn coordinate(&mut self) -> Result<f32, LoadError> {
        self.number(|parser, decimal, word| {
            let value = Some(decimal.single(word)).filter(|value| value.is_finite())?;
            if decimal.loses_digits(word, value) {
                let off = (decimal.double(word) - f64::from(value)).abs();
                parser.count_lost_digits(off);
            }
            Some(value)
        })
    }

    /// Seconds have 64 bits.
    fn time(&mut self) -> Result<f64, LoadError> {
        self.number(|_, decimal, word| Some(decimal.double(word)).filter(|value| value.is_finite()))
    }

    /// Goes past a number that `value` finds a value for.
    #[inline]
    fn number<T: Default>(
        &mut self,
        value: impl FnOnce(&mut Self, &Decimal, &[u8]) -> Option<T>,
    ) -> Result<T, LoadError> {
        if let Some((decimal, word)) = self.decimal()
            && let Some(value) = value(self, &decimal, word)
        {
            self.lexer.advance(word.len());
            return Ok(value);
        }
        self.no_number().map(|()| T::default())
    }

    /// The error for something that is no number; nothing if it may be read as 0, gone past.
    #[cold]
    fn no_number(&mut self) -> Result<(), LoadError> {
        let word = self.lexer.word_here();
        if !numbers::is_number(word) {
            return Err(self.expected("a number"));
        }
        let at = self.lexer.at();
        if self.looks_only {
            self.source.mended("a number that is not finite read as 0", at);
            self.lexer.advance(word.len());
            return Ok(());
        }
        let place = self.source.place(at);
        Err(LoadError::NotFinite { place, found: found(Some(word)) })
    }

    #[inline]
    fn int(&mut self) -> Result<i32, LoadError> {
        self.lexer.peek();
        let word = self.lexer.word_here();
        match numbers::int(word) {
            Some(value) => {
                self.lexer.advance(word.len());
                Ok(value)
            }
            None => self.odd_int(word),
        }
    }

    /// A number with a point where a whole one belongs, if it means one, or two numbers without a
    /// blank between them.
    #[cold]
    fn odd_int(&mut self, word: &[u8]) -> Result<i32, LoadError> {
        let sign = word.iter().skip(1).position(|byte| matches!(byte, b'+' | b'-'));
        let first = sign.and_then(|at| word.get(..=at)).filter(|first| !first.ends_with(b"e"));
        if let Some((first, value)) = first.and_then(|first| Some((first, numbers::int(first)?))) {
            self.lexer.advance(first.len());
            self.source.mended("no blank after a number", self.lexer.at());
            return Ok(value);
        }
        let decimal = numbers::scan(word).filter(|decimal| decimal.length == word.len());
        let value = decimal.map(|decimal| decimal.double(word));
        let whole = value.filter(|value| value.fract() == 0.0 && value.abs() <= 2_147_483_647.0);
        let Some(value) = whole else {
            return Err(self.expected("a whole number of 32 bits"));
        };
        self.source.mended("a whole number written with a point or exponent", self.lexer.at());
        self.lexer.advance(word.len());
        Ok(value as i32)
    }

    fn bool(&mut self) -> Result<bool, LoadError> {
        self.lexer.peek();
        let word = self.lexer.word_here();
        let value = match word {
            b"TRUE" => true,
            b"FALSE" => false,
            _ if word.eq_ignore_ascii_case(b"TRUE") || word.eq_ignore_ascii_case(b"FALSE") => {
                self.source.mended("TRUE or FALSE in small letters", self.lexer.at());
                word.eq_ignore_ascii_case(b"TRUE")
            }
            _ => return Err(self.expected("TRUE or FALSE")),
        };
        self.lexer.advance(word.len());
        Ok(value)
    }

    /// For `enslaved` and `remote`, whose type in the paper is SFFloat, with default FALSE.
    pub(super) fn bool_or_number(&mut self) -> Result<Value, LoadError> {
        let at = self.lexer.at();
        if !matches!(self.lexer.peek(), Some(b'0'..=b'9' | b'+' | b'-' | b'.')) {
            return self.value(FieldType::Bool);
        }
        let value = self.float()? != 0.0;
        self.source.mended("a number read as TRUE or FALSE", at);
        Ok(Value::Bool(value))
    }

    pub(super) fn string(&mut self) -> Result<Arc<str>, LoadError> {
        if self.lexer.peek() != Some(b'"') {
            return Err(self.expected("a string in quotes"));
        }
        let at = self.lexer.at();
        self.lexer.string().ok_or_else(|| self.unclosed(at, "\""))
    }

    /// One string, or several in brackets.
    pub(super) fn strings(&mut self) -> Result<List<Arc<str>>, LoadError> {
        self.list(Self::string)
    }

    #[inline]
    fn vec2(&mut self) -> Result<Vec2, LoadError> {
        Ok(Vec2::new(self.float()?, self.float()?))
    }

    #[inline]
    fn vec3(&mut self) -> Result<Vec3, LoadError> {
        Ok(Vec3::new(self.float()?, self.float()?, self.float()?))
    }

    fn color(&mut self) -> Result<Rgb, LoadError> {
        self.vec3().map(Rgb)
    }

    fn rotation(&mut self) -> Result<Rotation, LoadError> {
        Ok(Rotation { axis: self.vec3()?, angle: self.float()? })
    }

    /// 5.4: width, height, bytes per pixel, pixels.
    fn image(&mut self) -> Result<Image, LoadError> {
        let width = self.pixel()?;
        let height = self.pixel()?;
        self.lexer.peek();
        let at = self.lexer.at();
        let components = self.pixel()?;
        if components > 4 {
            return Err(self.source.refused("a pixel has at most 4 components", at));
        }
        let count = u64::from(width) * u64::from(height);
        // Every pixel takes a digit and, but for the last, a blank.
        let left = self.lexer.rest().len() as u64;
        if count > left.div_ceil(2) {
            let what = format!("an image of {width} x {height} pixels");
            let needs = u128::from(count) * 2 - 1;
            let place = self.source.place(at);
            return Err(LoadError::Truncated { place, what, needs, left: left as usize });
        }
        let mut pixels = Vec::with_capacity(count as usize);
        for _ in 0..count {
            pixels.push(self.pixel()?);
            self.report_progress();
        }
        Ok(Image { width, height, components, pixels })
    }

    fn pixel(&mut self) -> Result<u32, LoadError> {
        self.lexer.peek();
        let word = self.lexer.word_here();
        let value = numbers::whole(word).and_then(|value| u32::try_from(value).ok());
        let value =
            value.ok_or_else(|| self.expected("a whole number of 32 bits, not negative"))?;
        self.lexer.advance(word.len());
        Ok(value)
    }
}
