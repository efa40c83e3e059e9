//! Hierarchies that are kept in files (Ohlenburg C.4, `hierarchyFile`).

use jostle_geom::{Mesh, Model, Quality};

/// Reads the file with this name; none if there is no such file.
pub type LoadHierarchy<'a> = dyn FnMut(&str) -> Option<Vec<u8>> + 'a;

/// Writes the file with this name.
pub type SaveHierarchy<'a> = dyn FnMut(&str, &[u8]) + 'a;

/// Access to hierarchy files, which the caller of a stage provides: the stage opens no files.
#[derive(Default)]
pub struct HierarchyFiles<'a> {
    /// Reads hierarchies. Without it, they are built.
    pub load: Option<&'a mut LoadHierarchy<'a>>,
    /// Writes hierarchies that were built. Without it, they are not saved.
    pub save: Option<&'a mut SaveHierarchy<'a>>,
}

impl HierarchyFiles<'_> {
    /// "If hierarchyFile is specified and the file exists, the hierarchy for the geometry is read
    /// from the file. If the file does not exist, the hierarchy is created and written." A file
    /// that does not match the mesh is replaced.
    pub(crate) fn load_or_build(&mut self, file: &str, mesh: Mesh, quality: Quality) -> Model {
        let saved = self.load.as_mut().and_then(|load| load(file));
        let (model, rejected) =
            Model::hierarchy_from_bytes_or_build(mesh, saved.as_deref(), quality);
        if (saved.is_none() || rejected.is_some())
            && let Some(save) = &mut self.save
        {
            save(file, &model.hierarchy_to_bytes());
        }
        model
    }
}
