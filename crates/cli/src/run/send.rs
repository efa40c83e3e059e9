//! Events that the command line sends to a scene.

use crate::error::CliError;
use glam::{Vec2, Vec3};
use jostle_scene::nodes::{Kind, Way};
use jostle_scene::{FieldType, Rotation, Touch, Value};
use jostle_stage::Stage;
use std::sync::Arc;

/// An event before a step: `STEP:NODE.FIELD=VALUE`, or `STEP:NODE` for a click on a TouchSensor.
#[derive(Clone, Debug)]
pub(crate) struct Send {
    pub(crate) step: u64,
    node: String,
    /// The field and the value as text; none for a click.
    event: Option<(String, String)>,
}

impl Send {
    pub(crate) fn parse(text: &str) -> Result<Send, String> {
        let expected = || format!("expected STEP:NODE.FIELD=VALUE or STEP:NODE, found {text:?}");
        let (step, rest) = text.split_once(':').ok_or_else(expected)?;
        let step = step.trim().parse().map_err(|_| expected())?;
        let (path, value) = match rest.split_once('=') {
            Some((path, value)) => (path, Some(value.trim().to_string())),
            None => (rest, None),
        };
        let send = match value {
            Some(value) => {
                let (node, field) = path.rsplit_once('.').ok_or_else(expected)?;
                let event = Some((field.trim().to_string(), value));
                Send { step, node: node.trim().to_string(), event }
            }
            None => Send { step, node: path.trim().to_string(), event: None },
        };
        if send.node.is_empty() { Err(expected()) } else { Ok(send) }
    }

    /// Sends the event.
    pub(super) fn perform(&self, stage: &mut Stage) -> Result<(), CliError> {
        let scene = stage.play().scene();
        let node = scene
            .find(&self.node)
            .and_then(|id| scene.through_instances(id))
            .ok_or_else(|| self.error(format!("the scene has no node named \"{}\"", self.node)))?;
        let Some((field, value)) = &self.event else {
            let (point, normal, texture) = (Vec3::ZERO, Vec3::Z, Vec2::ZERO);
            let over = Touch::Over { point, normal, texture };
            for touch in [over, Touch::Press, Touch::Release, Touch::Out] {
                let touched = stage.play_mut().touch(node, touch);
                touched.map_err(|error| self.error(error.to_string()))?;
            }
            return Ok(());
        };
        let kind = &scene.node(node).kind;
        let ty = type_of(kind, field).ok_or_else(|| {
            self.error(format!("{} has no field or event \"{field}\" that can be set", kind.name()))
        })?;
        let value = parse_value(ty, value).ok_or_else(|| {
            self.error(format!("\"{field}\" takes a value of type {ty}, found {value:?}"))
        })?;
        let sent = stage.play_mut().send(node, field, value);
        sent.map_err(|error| self.error(error.to_string()))
    }

    fn error(&self, what: String) -> CliError {
        CliError::Send { step: self.step, what }
    }
}

fn type_of(kind: &Kind, field: &str) -> Option<FieldType> {
    let index = kind.event(field, Way::In)?;
    kind.fields().get(index).map(|field| field.ty)
}

fn parse_value(ty: FieldType, text: &str) -> Option<Value> {
    let numbers: Option<Vec<f32>> =
        text.split([' ', ',']).filter(|word| !word.is_empty()).map(|w| w.parse().ok()).collect();
    let numbers = numbers.unwrap_or_default();
    Some(match (ty, &numbers[..]) {
        (FieldType::Bool, _) if text.eq_ignore_ascii_case("true") => Value::Bool(true),
        (FieldType::Bool, _) if text.eq_ignore_ascii_case("false") => Value::Bool(false),
        (FieldType::Int, _) => Value::Int(text.parse().ok()?),
        (FieldType::Time, _) => Value::Time(text.parse().ok()?),
        (FieldType::String, _) => Value::String(Arc::from(text)),
        (FieldType::Float, &[x]) => Value::Float(x),
        (FieldType::Floats, list) if !list.is_empty() => Value::Floats(Arc::new(list.to_vec())),
        (FieldType::Vec2, &[x, y]) => Value::Vec2(Vec2::new(x, y)),
        (FieldType::Vec3, &[x, y, z]) => Value::Vec3(Vec3::new(x, y, z)),
        (FieldType::Rotation, &[x, y, z, angle]) => {
            Value::Rotation(Rotation { axis: Vec3::new(x, y, z), angle })
        }
        _ => return None,
    })
}
