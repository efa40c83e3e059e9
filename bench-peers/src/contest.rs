//! Two models in all engines, asked the same questions about the same poses.

use crate::fcl::{self, Fcl, FclPose};
use crate::measure::{Engine, Query, Runner, Series, interleave};
use crate::parry::{self, Parry};
use crate::report::Row;
use crate::soup::Soup;
use crate::us::Us;
use anyhow::Result;
use jostle_geom::Pose;

/// The poses in the numbers of each engine, converted before the clock starts.
pub(crate) struct Poses {
    us: Vec<Pose>,
    fcl: Vec<FclPose>,
    parry: Vec<parry3d::math::Pose>,
}

impl Poses {
    pub(crate) fn new(poses: Vec<Pose>) -> Poses {
        Poses {
            fcl: poses.iter().map(fcl::pose).collect(),
            parry: poses.iter().map(parry::pose).collect(),
            us: poses,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.us.len()
    }
}

/// How many poses are asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) poses: usize,
    /// parry gets fewer where it takes seconds.
    pub(crate) parry: usize,
    pub(crate) block: usize,
}

impl Plan {
    /// All poses for everyone, in blocks of 50 to 125 poses: enough blocks to see the spread, and
    /// long enough that what the engine before left in the caches is a small part. (Our touch
    /// takes some 2 µs: in blocks of 20 poses it was
    /// a third slower and more, at 200,000 triangles, than in one go.)
    pub(crate) fn all(poses: &Poses) -> Plan {
        Plan::first(poses.len(), poses)
    }

    /// The first few poses.
    pub(crate) fn first(count: usize, poses: &Poses) -> Plan {
        let count = count.min(poses.len());
        Plan { poses: count, parry: count, block: (count / 8).clamp(50, 125) }
    }
}

/// Two models in all engines.
pub(crate) struct Contest {
    us: Us,
    fcl: Option<Fcl>,
    parry: Parry,
    triangles: [usize; 2],
}

impl Contest {
    pub(crate) fn build(a: &Soup, b: &Soup) -> Result<Contest> {
        Ok(Contest {
            us: Us::build(a, b)?,
            fcl: Fcl::build(a, b)?,
            parry: Parry::build(a, b)?,
            triangles: [a.triangles.len(), b.triangles.len()],
        })
    }

    /// Asks everyone who can answer.
    pub(crate) fn ask(&self, query: Query, poses: &Poses, plan: Plan) -> Vec<Series> {
        let mut runners = vec![runner(Engine::Us, plan.poses, self.ask_us(query, &poses.us))];
        if let Some(fcl) = &self.fcl
            && let Some(ask) = ask_fcl(fcl, query, &poses.fcl)
        {
            runners.push(runner(Engine::Fcl, plan.poses, ask));
        }
        if plan.parry > 0
            && let Some(ask) = self.ask_parry(query, &poses.parry)
        {
            runners.push(runner(Engine::Parry, plan.parry, ask));
        }
        interleave(&mut runners, plan.poses, plan.block)
    }

    /// Asks, and makes a row of the table of it.
    pub(crate) fn row(&self, case: &str, query: Query, poses: &Poses, plan: Plan) -> Row {
        let series = self.ask(query, poses, plan);
        Row::new(case, self.triangles, query, series)
    }

    /// Our `within`, and our touch in turns with it: what matters is their ratio.
    pub(crate) fn within_row(&self, case: &str, d: f64, poses: &Poses, plan: Plan) -> Row {
        let ask = |query| runner(Engine::Us, plan.poses, self.ask_us(query, &poses.us));
        let mut runners = [ask(Query::Touch), ask(Query::Within(d))];
        let mut series = interleave(&mut runners, plan.poses, plan.block);
        let within = series.split_off(1);
        let ratio = within[0].times_slower_than(&series[0]).mean;
        let mut row = Row::new(case, self.triangles, Query::Within(d), within);
        row.remarks.push(format!("{ratio:.2} × our touch"));
        row
    }

    fn ask_us<'a>(&'a self, query: Query, poses: &'a [Pose]) -> Ask<'a> {
        let us = &self.us;
        match query {
            Query::Touch => Box::new(|i| f64::from(us.touch(&poses[i]))),
            Query::Pairs => Box::new(|i| us.pairs(&poses[i]) as f64),
            Query::Distance => Box::new(|i| us.distance(&poses[i])),
            Query::Within(d) => Box::new(move |i| f64::from(us.within(&poses[i], d))),
        }
    }

    fn ask_parry<'a>(&'a self, query: Query, poses: &'a [parry3d::math::Pose]) -> Option<Ask<'a>> {
        let parry = &self.parry;
        Some(match query {
            Query::Touch => Box::new(|i| f64::from(parry.touch(&poses[i]))),
            Query::Pairs => Box::new(|i| parry.pairs(&poses[i]) as f64),
            Query::Distance => Box::new(|i| parry.distance(&poses[i])),
            Query::Within(_) => return None,
        })
    }
}

type Ask<'a> = Box<dyn FnMut(usize) -> f64 + 'a>;

fn runner(engine: Engine, limit: usize, ask: Ask<'_>) -> Runner<'_> {
    Runner { engine, limit, ask }
}

fn ask_fcl<'a>(fcl: &'a Fcl, query: Query, poses: &'a [FclPose]) -> Option<Ask<'a>> {
    Some(match query {
        Query::Touch => Box::new(|i| f64::from(fcl.touch(&poses[i]))),
        Query::Pairs => Box::new(|i| fcl.pairs(&poses[i]) as f64),
        Query::Distance => Box::new(|i| fcl.distance(&poses[i])),
        Query::Within(_) => return None,
    })
}
