//! `jostle run`: a scene in motion, with its events.

mod record;
mod send;
mod view;

pub(crate) use send::Send;

use crate::error::CliError;
use crate::progress::Progress;
use crate::scene::args::RunArgs;
use crate::scene::{open, tell_problems, with_hierarchies};
use crate::share::failed;
use jostle_scene::Opened;
use jostle_stage::{HierarchyFiles, Stage, Staging};
use record::{Happened, Recorder, Row};
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct Output<'a> {
    scene: String,
    steps: u64,
    dt: f64,
    objects: usize,
    bodies: usize,
    triangles: usize,
    events: &'a [Row],
    /// Events that came after those.
    events_not_listed: usize,
    #[serde(skip)]
    limit_note: Option<String>,
    contacts: usize,
    /// Of the world after the last step: the same on every machine and for any number of threads.
    hash: String,
    warnings: Vec<String>,
}

/// Never a failure: what happens is the answer.
pub(crate) fn run(args: &RunArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    check_steps(args)?;
    let mut recorder = args.record.as_deref().map(Recorder::create).transpose()?;
    let Opened { scene, warnings } = open(&args.scene)?;
    let staging = Staging {
        tolerance: args.scene.tolerance.unwrap_or_default(),
        solid: args.scene.solid,
        continuous: args.continuous,
        ..Staging::default()
    };
    let failed = |source| CliError::stage(&args.scene.scene, source);
    let mut happened = Happened { most: args.max_events, ..Happened::default() };
    let mut done = 0;
    let stage = with_hierarchies(&args.scene, |files| -> Result<Stage, CliError> {
        let mut stage = Stage::new(scene, staging, files).map_err(failed)?;
        if let Some(recorder) = &mut recorder {
            recorder.begin(&stage, args)?;
        }
        note(&mut stage, 0, args, &mut happened, &mut recorder)?;
        let mut next = |stage: &mut Stage, step, happened: &mut Happened| {
            step_once(stage, step, args, happened, files)?;
            note(stage, step, args, happened, &mut recorder)
        };
        if args.view {
            done = view::run(&mut stage, args, &mut happened, out, &mut next)?;
        } else {
            done = args.steps();
            let mut progress = Progress::new(done as usize, true);
            for step in 1..=done {
                next(&mut stage, step, &mut happened)?;
                progress.done(step as usize);
            }
        }
        Ok(stage)
    })?;
    if let Some(recorder) = recorder {
        recorder.finish()?;
    }
    tell_problems(&args.scene, stage.problems());
    let mut said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    said.extend(stage.problems().iter().cloned());
    let hash = format!("{:016x}", stage.world().hash());
    let output = Output {
        scene: args.scene.scene.display().to_string(),
        steps: done,
        dt: args.dt,
        objects: stage.object_count(),
        bodies: stage.world().len(),
        triangles: stage.triangle_count(),
        events: &happened.rows,
        events_not_listed: happened.left_out,
        limit_note: happened.limit_note(),
        contacts: stage.world().contacts().len(),
        hash,
        warnings: said,
    };
    if args.scene.json {
        serde_json::to_writer(&mut *out, &output)?;
        writeln!(out)?;
    } else {
        print(&output, out)?;
    }
    Ok(false)
}

/// A key or event before a step that never comes is a mistake in the question.
fn check_steps(args: &RunArgs) -> Result<(), CliError> {
    if args.view && args.record.is_some() && args.steps.is_none() {
        return Err(failed("--record with --view also needs --steps, the length of the recording"));
    }
    let presses = args.key.iter().map(|press| ("--key", press.step));
    let sends = args.send.iter().map(|send| ("--send", send.step));
    match presses.chain(sends).find(|(_, step)| *step == 0 || *step > args.steps()) {
        Some((option, step)) => Err(CliError::NoStep { option, step, steps: args.steps() }),
        None => Ok(()),
    }
}

/// Keys and walking come before the step that feels them.
fn step_once(
    stage: &mut Stage,
    step: u64,
    args: &RunArgs,
    happened: &mut Happened,
    files: &mut HierarchyFiles<'_>,
) -> Result<(), CliError> {
    for press in args.key.iter().filter(|press| press.step == step) {
        stage.play_mut().key(press.key);
    }
    for send in args.send.iter().filter(|send| send.step == step) {
        send.perform(stage)?;
    }
    // The step forgets the events before it.
    happened.before = Row::of_nodes(stage, step, args.node_events);
    if let Some(speed) = args.walk {
        stage.walk(speed * args.dt);
    }
    let failed = |source| CliError::stage(&args.scene.scene, source);
    stage.step_with(args.dt, files).map_err(failed)
}

fn note(
    stage: &mut Stage,
    step: u64,
    args: &RunArgs,
    happened: &mut Happened,
    recorder: &mut Option<Recorder>,
) -> Result<(), CliError> {
    let before = std::mem::take(&mut happened.before).into_iter();
    let rows = before.chain(Row::of_step(stage, step, args.node_events));
    if let Some(recorder) = recorder {
        let rows: Vec<Row> = rows.collect();
        recorder.step(stage, step, &rows)?;
        happened.add(rows);
    } else {
        happened.add(rows);
    }
    stage.play_mut().clear_events();
    Ok(())
}

/// A number with its noun.
pub(crate) fn counted((count, one): (usize, &str)) -> String {
    match (count, one) {
        (1, _) => format!("1 {one}"),
        (_, "body") => format!("{count} bodies"),
        _ => format!("{count} {one}s"),
    }
}

fn print(output: &Output<'_>, out: &mut dyn Write) -> Result<(), CliError> {
    for row in output.events {
        writeln!(out, "{row}")?;
    }
    if let Some(note) = &output.limit_note {
        writeln!(out, "{note}")?;
    }
    let Output { objects, bodies, triangles, steps, contacts, hash, .. } = output;
    let [objects, contacts] = [(*objects, "object"), (*contacts, "contact")].map(counted);
    let [bodies, triangles] = [(*bodies, "body"), (*triangles, "triangle")].map(counted);
    let steps = counted((*steps as usize, "step"));
    writeln!(out, "{objects} ({bodies}, {triangles}), {steps}")?;
    writeln!(out, "{contacts} at the end, state {hash}")?;
    Ok(())
}
