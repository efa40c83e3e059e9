//! Status of the files that a process writes: the store, a recording, the directory's store.

use super::Lines;
use jostle_store::{DirectoryStoreStatus, Recorder, RecorderStatus};
use serde::Serialize;

/// Files that are not written are `None`.
#[derive(Debug, Default, Serialize)]
pub(super) struct FileStatus {
    store: Option<RecorderStatus>,
    recording: Option<RecorderStatus>,
    #[serde(rename = "directory_store")]
    pub(super) directory: Option<DirectoryStoreStatus>,
}

impl FileStatus {
    pub(super) fn update(&mut self, recorder: &Recorder) {
        let (name, status) = recorder.status();
        let state = if name == "store" { &mut self.store } else { &mut self.recording };
        if state.as_ref().is_none_or(|state| state != status) {
            *state = Some(status.clone());
        }
    }

    pub(super) fn count(&self, lines: &mut Lines) {
        for (name, status) in [("store", &self.store), ("recording", &self.recording)] {
            let Some(RecorderStatus { tick, bytes, failures, trouble }) = status else { continue };
            lines.gauge(&format!("{name}_tick"), "", tick.unwrap_or(0) as f64);
            lines.gauge(&format!("{name}_bytes"), "", *bytes as f64);
            lines.counter(&format!("{name}_write_failures_total"), "", *failures);
            lines.gauge(&format!("{name}_troubled"), "", f64::from(u8::from(trouble.is_some())));
        }
        if let Some(DirectoryStoreStatus { failures, trouble }) = &self.directory {
            lines.counter("directory_write_failures_total", "", *failures);
            lines.gauge("directory_troubled", "", f64::from(u8::from(trouble.is_some())));
        }
    }
}
