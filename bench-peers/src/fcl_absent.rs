//! Stands in for `fcl.rs` when FCL is left out: values that cannot exist, so nothing runs.

use crate::soup::Soup;
use anyhow::{Result, bail};
use glam::DVec3;
use jostle_geom::Pose;

pub(crate) type FclPose = [f64; 12];

pub(crate) fn pose(_: &Pose) -> FclPose {
    [0.0; 12]
}

pub(crate) fn version() -> Option<String> {
    None
}

pub(crate) struct Parts;

impl Parts {
    pub(crate) fn new(_: &Soup) -> Result<Parts> {
        Ok(Parts)
    }
}

pub(crate) enum Tree {}

impl Tree {
    pub(crate) fn build(_: &Parts, _: bool) -> Result<Tree> {
        bail!("FCL was left out of this build")
    }
}

pub(crate) enum Fcl {}

impl Fcl {
    pub(crate) fn build(_: &Soup, _: &Soup) -> Result<Option<Fcl>> {
        Ok(None)
    }

    pub(crate) fn touch(&self, _: &FclPose) -> bool {
        match *self {}
    }

    pub(crate) fn pairs(&self, _: &FclPose) -> usize {
        match *self {}
    }

    pub(crate) fn distance(&self, _: &FclPose) -> f64 {
        match *self {}
    }
}

pub(crate) enum Boxes {}

impl Boxes {
    pub(crate) fn new(_: bool, _: &[DVec3]) -> Result<Option<Boxes>> {
        Ok(None)
    }

    pub(crate) fn step(&mut self, _: &[DVec3]) -> usize {
        match *self {}
    }
}
