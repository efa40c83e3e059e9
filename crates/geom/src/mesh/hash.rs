//! The content hash of a mesh: the same before and after a hierarchy reorders it.

use super::Mesh;

/// Constants without structure, made odd: the first 64 bits of the fractional parts of the golden
/// ratio and of the square roots of 2 and 3.
const KEY: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b];

impl Mesh {
    /// A hash of the content: vertices and triangles with the numbers that the caller gave, and
    /// the number of faces. It does not depend on the order in which vertices and triangles are
    /// stored, on being solid, nor on the platform. It finds stale files; it does not resist
    /// an attacker who constructs two meshes with the same hash.
    ///
    /// Each vertex and each triangle is mixed with its numbers, and the results are added, so
    /// that their order does not matter.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let mut sum =
            mix([self.vertices.len(), self.triangles.len(), self.face_count]
                .map(|count| count as u64));
        for (vertex, position) in self.vertices().iter().enumerate() {
            let caller = self.caller_vertex(vertex as u32);
            let [x, y, z] = position.to_array().map(f32::to_bits);
            sum = sum.wrapping_add(mix([join(caller, x), join(y, z), KEY[1]]));
        }
        // The digits that `f32` does not have; a mesh without such digits has the hash of `f32`.
        for (vertex, position) in self.vertices_f64().into_iter().flatten().enumerate() {
            let caller = u64::from(self.caller_vertex(vertex as u32));
            let [x, y, z] = position.to_array().map(f64::to_bits);
            sum = sum.wrapping_add(mix([mix([x, y, z]), caller, KEY[0]]));
        }
        for (triangle, corners) in self.triangles.iter().enumerate() {
            let face = self.face_of(triangle as u32);
            let [a, b, c] = corners.map(|vertex| self.caller_vertex(vertex));
            sum = sum.wrapping_add(mix([join(face, a), join(b, c), KEY[2]]));
        }
        sum
    }
}

fn join(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Folded multiplication, as in wyhash, with the finish of splitmix64.
fn mix(words: [u64; 3]) -> u64 {
    let mut state = KEY[0];
    for (word, key) in words.into_iter().zip(KEY) {
        let product = u128::from(state ^ word) * u128::from(key);
        state = (product as u64) ^ ((product >> 64) as u64) ^ word.rotate_left(29);
    }
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}
