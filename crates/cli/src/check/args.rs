//! The options of `jostle check`.

use crate::scene::args::{SceneArgs, ShownArgs};
use crate::units::{Unit, parse_length, signed_length};
use clap::{Args, ValueEnum};
use glam::{DQuat, DVec3};
use jostle_geom::Pose;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) scene: SceneArgs,
    /// More files: all parts of all of them are tested. A .json file is an assembly: a list of
    /// files with names, poses and units
    #[arg(value_name = "FILE")]
    pub(crate) more: Vec<PathBuf>,
    /// Pose of a file: NAME="tx ty tz qx qy qz qw"; its name is that of the file without
    /// folder and ending. Lengths as in --clearance; can be given several times
    #[arg(long, value_name = "NAME=POSE", value_parser = parse_named_pose)]
    pub(crate) pose: Vec<(String, Pose)>,
    /// Also report parts that are closer than this: metres, or with a unit (0.5mm). Of files
    /// without a unit, plain numbers are in the unit of the file
    #[arg(long, value_name = "D", value_parser = parse_length)]
    pub(crate) clearance: Option<f64>,
    /// All pairs of faces that touch, not just one
    #[arg(long)]
    pub(crate) all_pairs: bool,
    /// List at most N findings, the first in the order of the report; the others are counted. Pairs
    /// in the file of --accept are listed in addition
    #[arg(long, value_name = "N", default_value = "100000")]
    pub(crate) max_findings: NonZeroUsize,
    /// Two names, separated by a comma, of parts that may touch, or of nodes above them. `*`
    /// matches any characters, `?` matches one; put a name with a comma in double quotes. Can be
    /// given several times
    #[arg(long, value_name = "A,B", value_parser = parse_names)]
    pub(crate) ignore: Vec<Names>,
    /// Merge vertices of a part within this distance, which closes gaps from rounding; a length as
    /// in --clearance
    #[arg(long, value_name = "D", value_parser = parse_length)]
    pub(crate) weld: Option<f64>,
    /// Test the level of an LOD that the viewpoint sees, not the finest
    #[arg(long)]
    pub(crate) lod_by_view: bool,
    /// Findings that a reviewer has accepted: those in this file are counted, not listed, and do
    /// not fail
    #[arg(long, value_name = "FILE")]
    pub(crate) accept: Option<PathBuf>,
    /// Write the current findings to the file of --accept
    #[arg(long, requires = "accept")]
    pub(crate) write_accept: bool,
    /// Exit with code 1 if there is a finding of this kind that was not accepted
    #[arg(long, value_name = "WHAT")]
    pub(crate) fail_on: Option<FailOn>,
    /// Print and report lengths in this unit: um, mm, cm, m, km, in or ft
    #[arg(long, value_name = "UNIT", value_parser = Unit::named, help_heading = "Output")]
    pub(crate) show: Option<Unit>,
    /// Write the findings to a CSV file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) csv: Option<PathBuf>,
    /// Write a report with pictures to an HTML file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// List the findings on a page, each with its two parts and where they touch
    #[arg(long, conflicts_with = "json", help_heading = "Page")]
    pub(crate) view: bool,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

/// The findings that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Parts may have volume in common: overlap, inside, identical, and also touch, where a
    /// surface is not closed and contact and interference cannot be distinguished.
    Overlap,
    /// Parts touch in any way, mere contact included.
    Touch,
    /// Parts touch, or are closer than --clearance.
    Clearance,
}

/// Two names, with wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names(pub(crate) [String; 2]);

fn parse_names(text: &str) -> Result<Names, String> {
    let error = || {
        format!(
            "expected two names with a comma between them (a name with a comma in double \
             quotes), found {text:?}"
        )
    };
    let mut names = vec![String::new()];
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            // Two quotes inside of quotes are one, as in CSV.
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                names.last_mut().ok_or_else(error)?.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => names.push(String::new()),
            other => names.last_mut().ok_or_else(error)?.push(other),
        }
    }
    let names: Vec<String> = names.iter().map(|name| name.trim().to_string()).collect();
    match <[String; 2]>::try_from(names) {
        Ok([a, b]) if !quoted && !a.is_empty() && !b.is_empty() => Ok(Names([a, b])),
        _ => Err(error()),
    }
}

fn parse_named_pose(text: &str) -> Result<(String, Pose), String> {
    let expected = "NAME=\"tx ty tz qx qy qz qw\"";
    let (name, words) =
        text.split_once('=').ok_or_else(|| format!("expected {expected}, found {text:?}"))?;
    let words: Vec<&str> = words.split_whitespace().collect();
    let [tx, ty, tz, quaternion @ ..] = &words[..] else {
        return Err(format!("expected {expected}: 7 numbers, found {}", words.len()));
    };
    let length = |word: &&str| signed_length(word).ok_or(format!("{word:?} is no length"));
    let number = |word: &&str| word.parse::<f64>().map_err(|_| format!("{word:?} is no number"));
    let translation = DVec3::new(length(tx)?, length(ty)?, length(tz)?);
    let quaternion = quaternion.iter().map(number).collect::<Result<Vec<f64>, String>>()?;
    let quaternion = <[f64; 4]>::try_from(quaternion)
        .map_err(|_| format!("expected {expected}: 7 numbers, found {}", words.len()))?;
    let pose = Pose::new(DQuat::from_array(quaternion), translation);
    Ok((name.trim().to_string(), pose.map_err(|error| error.to_string())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_comma_stands_in_quotes() {
        let names = |text: &str| parse_names(text).map(|Names(names)| names);
        let pair = |a: &str, b: &str| Ok([a.to_string(), b.to_string()]);
        assert_eq!(names("Bolt*, Plate "), pair("Bolt*", "Plate"));
        assert_eq!(names("\"Bolt, M8\",Plate*"), pair("Bolt, M8", "Plate*"));
        assert_eq!(names("\"3\"\" pipe\",Plate"), pair("3\" pipe", "Plate"));
        for bad in ["", "A", "A,", ",B", "A,B,C", "\"A,B", "\"A,B\""] {
            assert!(names(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_lengths_of_a_pose_may_have_units() {
        let (name, pose) = parse_named_pose("my bolt=10mm 0 -1 0 0 0 1").unwrap();
        assert_eq!((name.as_str(), pose.translation()), ("my bolt", DVec3::new(0.01, 0.0, -1.0)));
        for bad in ["bolt", "bolt=", "bolt=1 2 3", "bolt=1 2 3 0 0 0 0", "b=1 2 x 0 0 0 1"] {
            assert!(parse_named_pose(bad).is_err(), "{bad:?}");
        }
    }
}
