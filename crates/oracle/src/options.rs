//! The options of the examples: how many cases, and from which seed.

use std::fmt::Display;
use std::process::ExitCode;

/// The options of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The number of cases.
    pub cases: u64,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Options {
    /// The main function of an example: reads the words of the command line, runs the comparison,
    /// prints its summary, and fails if that has wrong answers.
    pub fn run<S: Display>(
        self,
        compare: impl FnOnce(u64, u64) -> S,
        is_right: impl FnOnce(&S) -> bool,
    ) -> ExitCode {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let options = match self.parse(&words) {
            Ok(options) => options,
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::from(2);
            }
        };
        let summary = compare(options.cases, options.seed);
        println!("{summary}");
        if is_right(&summary) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Reads `--cases N` and `--seed S`, in any order; the fields are the defaults.
    ///
    /// # Errors
    /// Other words, and numbers that are not whole, with what was expected.
    pub fn parse(mut self, words: &[String]) -> Result<Options, String> {
        let number = |text: &str| {
            let digits = text.replace('_', "");
            digits.parse().map_err(|_| format!("expected a whole number, found `{text}`"))
        };
        for pair in words.chunks(2) {
            match pair {
                [word, text] if word == "--cases" => self.cases = number(text)?,
                [word, text] if word == "--seed" => self.seed = number(text)?,
                other => {
                    let found = other.join(" ");
                    return Err(format!("expected --cases N or --seed S, found `{found}`"));
                }
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_nonsense_is_named() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Options { cases: 1_000_000, seed: 1 }.parse(&words)
        };
        assert_eq!(parse(&[]), Ok(Options { cases: 1_000_000, seed: 1 }));
        let words = ["--seed", "7", "--cases", "10_000_000"];
        assert_eq!(parse(&words), Ok(Options { cases: 10_000_000, seed: 7 }));
        for words in [&["--cases"][..], &["--cases", "many"], &["--seed", "-1"], &["fast"]] {
            let message = parse(words).expect_err("not options");
            assert!(message.starts_with("expected"), "{message}");
        }
    }
}
