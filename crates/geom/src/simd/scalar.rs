//! The reference lanes: plain arrays, one IEEE operation per lane.

use super::{F32x8, F64x4, Simd};

/// Plain arrays.
pub(crate) struct Scalar;

impl Simd for Scalar {
    type F = Array8;
    type D = Array4;
}

#[derive(Clone, Copy)]
pub(crate) struct Array8([f32; 8]);

#[derive(Clone, Copy)]
pub(crate) struct Array4([f64; 4]);

#[inline(always)]
fn each8(f: impl Fn(usize) -> f32) -> Array8 {
    Array8(std::array::from_fn(f))
}

#[inline(always)]
fn each4(f: impl Fn(usize) -> f64) -> Array4 {
    Array4(std::array::from_fn(f))
}

impl F32x8 for Array8 {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Array8([x; 8])
    }
    #[inline(always)]
    fn load(from: &[f32; 8]) -> Self {
        Array8(*from)
    }
    #[inline(always)]
    fn load_i16(from: &[i16; 8]) -> Self {
        each8(|k| f32::from(from[k]))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 8]) {
        *to = self.0;
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        each8(|k| self.0[k] + other.0[k])
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        each8(|k| self.0[k] - other.0[k])
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        each8(|k| self.0[k] * other.0[k])
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        each8(|k| self.0[k].mul_add(b.0[k], c.0[k]))
    }
    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        each8(|k| self.0[k].mul_add(b.0[k], -c.0[k]))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        each8(|k| self.0[k].abs())
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        each8(|k| if self.0[k] < other.0[k] { self.0[k] } else { other.0[k] })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        each8(|k| if self.0[k] > other.0[k] { self.0[k] } else { other.0[k] })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        each8(|k| self.0[k].sqrt())
    }
    #[inline(always)]
    fn gt(self, other: Self) -> u8 {
        (0..8).fold(0, |bits, k| bits | (u8::from(self.0[k] > other.0[k]) << k))
    }
    #[inline(always)]
    fn any_gt<const N: usize>(these: [Self; N], others: [Self; N]) -> u8 {
        let mut any = 0;
        for k in 0..N {
            any |= these[k].gt(others[k]);
        }
        any
    }
    #[inline(always)]
    fn swap_halves(self) -> Self {
        each8(|k| self.0[k ^ 4])
    }
    #[inline(always)]
    fn top_bits(of: &[u32; 8]) -> u8 {
        (0..8).fold(0, |bits, k| bits | ((of[k] >> 31) as u8) << k)
    }
    #[inline(always)]
    fn select_lt(self, other: Self, yes: Self, no: Self) -> Self {
        each8(|k| if self.0[k] < other.0[k] { yes.0[k] } else { no.0[k] })
    }
}

impl F64x4 for Array4 {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Array4([x; 4])
    }
    #[inline(always)]
    fn new(lanes: [f64; 4]) -> Self {
        Array4(lanes)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        each4(|k| self.0[k] + other.0[k])
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        each4(|k| self.0[k] - other.0[k])
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        each4(|k| self.0[k] * other.0[k])
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        each4(|k| self.0[k].mul_add(b.0[k], c.0[k]))
    }
    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        each4(|k| self.0[k].mul_add(b.0[k], -c.0[k]))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        each4(|k| if self.0[k] < other.0[k] { self.0[k] } else { other.0[k] })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        each4(|k| if self.0[k] > other.0[k] { self.0[k] } else { other.0[k] })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        each4(|k| self.0[k] / other.0[k])
    }
    #[inline(always)]
    fn select_lt(self, other: Self, yes: Self, no: Self) -> Self {
        each4(|k| if self.0[k] < other.0[k] { yes.0[k] } else { no.0[k] })
    }
    #[inline(always)]
    fn gt(self, other: Self) -> u8 {
        (0..4).fold(0, |bits, k| bits | (u8::from(self.0[k] > other.0[k]) << k))
    }
    #[inline(always)]
    fn to_array(self) -> [f64; 4] {
        self.0
    }
}
