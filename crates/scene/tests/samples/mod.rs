//! Small files of every format, written here, and a seeded random source.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) use jostle_dice::Random;
use jostle_scene::Format;

/// A pyramid with a square and a pentagon beside it, with everything that OBJ has around it.
pub(crate) const OBJ: &[u8] = b"# caf\xe9 \\\n\
mtllib none.mtl\r\n\
o pyramid\n\
v 0 0 0\n\
v 1 0 0 1.0\n\
v 1 1 0 0.1 0.2 0.3\n\
v 0 1 0 # corner\n\
v 5e-1 .5 1.\n\
vt 0 0\nvn 0 0 1\n\
f 4 3 2 1\n\
f 1/1 2/1 5/1\n\
f 2//1 3//1 5//1\n\
f 3/1/1 4/1/1 \\\n5/1/1\n\
g other\n\
s off\n\
f -2 -5 -1\n\
f 1 2 3 4 5\n\
l 1 2\np 1\n";

pub(crate) const STL_TEXT: &[u8] = b"solid first part\n\
 facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   vertex 0 1 0\n\
  endloop\n endfacet\n\
FACET NORMAL nan nan nan\r\nOUTER LOOP\r\nVERTEX 1 0 0\r\nVERTEX 1 1e0 -0\r\nVERTEX 0 1 0\r\n\
ENDLOOP\r\nENDFACET\r\n\
endsolid first part\n\
solid\nfacet normal 0 0 1 outer loop vertex 0 0 5\nvertex 1 0 5\nvertex 0 1 5\n\
endloop endfacet\nendsolid\n";

pub(crate) const PLY_TEXT: &[u8] = b"ply\n\
format ascii 1.0\n\
comment caf\xe9\n\
element vertex 5\n\
property uchar red\n\
property float x\nproperty float y\nproperty double z\n\
property list uchar short neighbours\n\
element edge 1\nproperty int vertex1\nproperty int vertex2\n\
element face 2\n\
property list uchar int vertex_indices\nproperty float quality\n\
end_header\n\
255 0 0 0 2 1 -1\n\
255 1. 0 0 0\n\
255 1 1 0 1 7\n\
255 .0 1 0 0\n\
255 0.5 0.5 1 0\n\
0 1\n\
3 0 1 4 0.5\n\
5 0 1 2 3 4 nan\n";

/// A tetrahedron. The header begins with `solid`, as some exporters have it.
pub(crate) fn stl_binary() -> Vec<u8> {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0f32]];
    let mut bytes = vec![0; 80];
    bytes[..12].copy_from_slice(b"solid binary");
    bytes.extend(4u32.to_le_bytes());
    for triangle in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] {
        bytes.extend([0; 12]);
        for corner in triangle {
            bytes.extend(f32s(corners[corner]));
        }
        bytes.extend([7, 7]);
    }
    bytes
}

fn f32s(values: [f32; 3]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// The polygons of [`PLY_TEXT`], and one more element after them.
pub(crate) fn ply_binary(big: bool) -> Vec<u8> {
    let header = "ply\r\nformat ENDIAN 1.0\r\nobj_info x\r\n\
element vertex 5\r\nproperty uchar red\r\n\
property double x\r\nproperty float y\r\nproperty short z\r\n\
property list uchar ushort neighbours\r\nelement face 2\r\n\
property list uint uint vertex_index\r\nproperty char flag\r\n\
element nothing 4000000000\r\nelement edge 1\r\nproperty int a\r\nend_header\r\n";
    let endian = if big { "binary_big_endian" } else { "binary_little_endian" };
    let mut bytes = header.replace("ENDIAN", endian).into_bytes();
    let mut put = |little: &[u8]| {
        let mut number = little.to_vec();
        if big {
            number.reverse();
        }
        bytes.extend(number);
    };
    let vertices: [(f64, f32, i16); 5] =
        [(0.0, 0.0, 0), (1.0, 0.0, 0), (1.0, 1.0, 0), (0.0, 1.0, 0), (0.5, 0.5, 1)];
    for (i, (x, y, z)) in vertices.into_iter().enumerate() {
        put(&[255]);
        put(&x.to_le_bytes());
        put(&y.to_le_bytes());
        put(&z.to_le_bytes());
        put(&[i as u8]);
        for neighbour in 0..i as u16 {
            put(&neighbour.to_le_bytes());
        }
    }
    for face in [&[0u32, 1, 4][..], &[0, 1, 2, 3, 4]] {
        put(&(face.len() as u32).to_le_bytes());
        for index in face {
            put(&index.to_le_bytes());
        }
        put(&[0xff]);
    }
    put(&(-1i32).to_le_bytes());
    bytes
}

pub(crate) fn all() -> Vec<(&'static str, Format, Vec<u8>)> {
    vec![
        ("OBJ", Format::Obj, OBJ.to_vec()),
        ("text STL", Format::Stl, STL_TEXT.to_vec()),
        ("binary STL", Format::Stl, stl_binary()),
        ("text PLY", Format::Ply, PLY_TEXT.to_vec()),
        ("little-endian PLY", Format::Ply, ply_binary(false)),
        ("big-endian PLY", Format::Ply, ply_binary(true)),
    ]
}

/// What readers stumble over.
const TOKENS: &[&[u8]] = &[
    b"-1",
    b"0",
    b"999999999999999999999",
    b"4294967295",
    b"4294967296",
    b"-9223372036854775808",
    b"nan",
    b"inf",
    b"1e999",
    b"1e-999",
    b"/",
    b"//",
    b"\n",
    b"\r",
    b" ",
    b"\\\n",
    b"\0",
    b"\xff",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x80",
    b"f 1",
    b"v",
    b"#",
    b"list",
    b"element vertex 9\n",
    b"end_header\n",
    b"property list double double q\n",
    b"solid",
    b"endsolid",
    b"e",
    b".",
];

/// One to four changes: a byte, a piece gone, a token put in or over, a piece doubled.
pub(crate) fn mutate(source: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = source.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(16)).min(bytes.len());
        let token = TOKENS[random.below(TOKENS.len())];
        match random.below(5) {
            0 if at < bytes.len() => bytes[at] = random.bits() as u8,
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, token.iter().copied())),
            3 => drop(bytes.splice(at..end, token.iter().copied())),
            _ => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                drop(bytes.splice(to..to, piece));
            }
        }
    }
    bytes
}
