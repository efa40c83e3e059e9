//! Formats that are known and not supported: the error names the format and how to convert it.

use crate::Format;
use crate::error::LoadError;

/// A format that is not read.
struct Foreign {
    /// What it is, as the subject of a sentence.
    what: &'static str,
    endings: &'static [&'static str],
    /// The magic bytes of such files; empty if there are none.
    starts: &'static [&'static [u8]],
    /// An element of XML that only this format has near its beginning.
    element: Option<&'static [u8]>,
    hint: &'static str,
}

const CAD: &str = "convert to glTF (.glb) or STL, e.g. with FreeCAD or CadQuery";
const BLENDER: &str = "convert to glTF (.glb), e.g. with Blender";
const MESHLAB: &str = "convert to PLY or OBJ, e.g. with MeshLab";
const ROBOT: &str = "a robot's links are mesh files of their own: check those (.stl, .obj, .glb)";

/// IFC comes before STEP, whose first bytes it shares.
const FOREIGN: &[Foreign] = &[
    Foreign {
        what: "IFC files are",
        endings: &["ifc", "ifczip"],
        starts: &[],
        element: None,
        hint: "convert to glTF (.glb), e.g. with IfcConvert or FreeCAD",
    },
    Foreign {
        what: "STEP files are",
        endings: &["step", "stp", "p21", "stpz"],
        starts: &[b"ISO-10303-21"],
        element: None,
        hint: CAD,
    },
    Foreign {
        what: "IGES files are",
        endings: &["iges", "igs"],
        starts: &[],
        element: None,
        hint: CAD,
    },
    Foreign {
        what: "BREP files are",
        endings: &["brep", "brp"],
        starts: &[b"DBRep_DrawableShape", b"CASCADE Topology"],
        element: None,
        hint: CAD,
    },
    Foreign {
        what: "files of a CAD program are",
        endings: &[
            "fcstd",
            "sldprt",
            "sldasm",
            "catpart",
            "catproduct",
            "ipt",
            "iam",
            "prt",
            "asm",
            "jt",
            "x_t",
            "x_b",
            "3dm",
            "dwg",
            "dxf",
        ],
        starts: &[],
        element: None,
        hint: "export glTF (.glb), STL or OBJ from that program",
    },
    Foreign {
        what: "3MF files are",
        endings: &["3mf"],
        starts: &[],
        element: None,
        hint: "convert to STL or OBJ, e.g. with a slicer, Blender or MeshLab",
    },
    Foreign {
        what: "AMF files are",
        endings: &["amf"],
        starts: &[],
        element: Some(b"<amf"),
        hint: "convert to STL, e.g. with a slicer",
    },
    Foreign {
        what: "COLLADA files are",
        endings: &["dae", "zae"],
        starts: &[],
        element: Some(b"<COLLADA"),
        hint: BLENDER,
    },
    Foreign {
        what: "robot descriptions (URDF, SDF, MJCF) are",
        endings: &["urdf", "xacro", "sdf", "mjcf"],
        starts: &[],
        element: Some(b"<robot"),
        hint: ROBOT,
    },
    Foreign {
        what: "OFF files are",
        endings: &["off"],
        starts: &[b"OFF\n", b"OFF\r", b"OFF ", b"COFF", b"NOFF"],
        element: None,
        hint: MESHLAB,
    },
    Foreign {
        what: "FBX files are",
        endings: &["fbx"],
        starts: &[b"Kaydara FBX Binary", b"; FBX"],
        element: None,
        hint: BLENDER,
    },
    Foreign {
        what: "USD files are",
        endings: &["usd", "usda", "usdc", "usdz"],
        starts: &[b"#usda", b"PXR-USDC"],
        element: None,
        hint: BLENDER,
    },
    Foreign { what: "3DS files are", endings: &["3ds"], starts: &[], element: None, hint: BLENDER },
    Foreign {
        what: "Blender files are",
        endings: &["blend"],
        starts: &[b"BLENDER"],
        element: None,
        hint: "export glTF (.glb) from Blender",
    },
    Foreign {
        what: "archives (ZIP) are",
        endings: &["zip", "7z", "rar", "tar", "tgz"],
        starts: &[b"PK\x03\x04"],
        element: None,
        hint: "unpack it first",
    },
];

/// How far into a text the element that identifies its format is looked for.
const HEAD: usize = 4096;

/// The error for a file of a format that is not supported, which is recognised by the ending of its
/// name or by its first bytes.
pub(crate) fn refusal(name: &str, bytes: &[u8]) -> Option<LoadError> {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let by_name =
        |foreign: &&Foreign| foreign.endings.iter().any(|known| ending.eq_ignore_ascii_case(known));
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let has = |element: &[u8]| {
        text.starts_with(b"<") && text.windows(element.len()).any(|part| part == element)
    };
    let by_bytes = |foreign: &&Foreign| {
        foreign.starts.iter().any(|start| text.starts_with(start))
            || foreign.element.is_some_and(has)
    };
    // The header of a binary STL may be anything: a name that is read decides.
    let may_be_foreign = Format::from_name(name).is_none();
    let found = FOREIGN
        .iter()
        .find(by_name)
        .or_else(|| FOREIGN.iter().find(by_bytes).filter(|_| may_be_foreign))?;
    let what = format!("{} not read here; {}", found.what, found.hint);
    Some(LoadError::NotReadable { what })
}
