//! Many triangle pairs, each judged by the kernels and by whole-number arithmetic.
//!
//! `cargo xtask exact --cases N --seed S` runs this with optimisation.

use std::process::ExitCode;

/// What to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Options {
    cases: u64,
    seed: u64,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let options = match parse(&words) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let summary = jostle_oracle::exact::run(options.cases, options.seed);
    println!("{summary}");
    if summary.wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(words: &[&str]) -> Result<Options, String> {
    let mut options = Options { cases: 1_000_000, seed: 1 };
    for pair in words.chunks(2) {
        let number = |text: &str| {
            let digits = text.replace('_', "");
            digits.parse().map_err(|_| format!("expected a whole number, found `{text}`"))
        };
        match pair {
            ["--cases", text] => options.cases = number(text)?,
            ["--seed", text] => options.seed = number(text)?,
            other => {
                let found = other.join(" ");
                return Err(format!("expected --cases N or --seed S, found `{found}`"));
            }
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_nonsense_is_named() {
        assert_eq!(parse(&[]), Ok(Options { cases: 1_000_000, seed: 1 }));
        let words = ["--seed", "7", "--cases", "10_000_000"];
        assert_eq!(parse(&words), Ok(Options { cases: 10_000_000, seed: 7 }));
        for words in [&["--cases"][..], &["--cases", "many"], &["--seed", "-1"], &["fast"]] {
            let message = parse(words).expect_err("not options");
            assert!(message.starts_with("expected"), "{message}");
        }
    }
}
