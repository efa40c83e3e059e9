//! Lanes in AVX2 registers. Nothing but one instruction per operation.
#![allow(unsafe_code)]
// SAFETY (whole file): these types are reached only through `run_avx2`, which runs only after
// AVX2 and FMA were detected; loads and stores go through references to whole arrays.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::{F32x8, F64x4, Simd};
use std::arch::x86_64::*;

/// AVX2 with FMA.
pub(crate) struct Avx2;

impl Simd for Avx2 {
    type F = Ymm;
    type D = YmmD;
}

#[derive(Clone, Copy)]
pub(crate) struct Ymm(__m256);

#[derive(Clone, Copy)]
pub(crate) struct YmmD(__m256d);

impl F32x8 for Ymm {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Ymm(unsafe { _mm256_set1_ps(x) })
    }
    #[inline(always)]
    fn load(from: &[f32; 8]) -> Self {
        Ymm(unsafe { _mm256_loadu_ps(from.as_ptr()) })
    }
    #[inline(always)]
    fn load_i16(from: &[i16; 8]) -> Self {
        Ymm(unsafe {
            _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(from.as_ptr().cast())))
        })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 8]) {
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Ymm(unsafe { _mm256_add_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Ymm(unsafe { _mm256_sub_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Ymm(unsafe { _mm256_mul_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Ymm(unsafe { _mm256_fmadd_ps(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        Ymm(unsafe { _mm256_fmsub_ps(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Ymm(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Ymm(unsafe { _mm256_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Ymm(unsafe { _mm256_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Ymm(unsafe { _mm256_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn gt(self, other: Self) -> u8 {
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0)) as u8 }
    }
    #[inline(always)]
    fn any_gt<const N: usize>(these: [Self; N], others: [Self; N]) -> u8 {
        unsafe {
            let mut any = _mm256_setzero_ps();
            for k in 0..N {
                any = _mm256_or_ps(any, _mm256_cmp_ps::<_CMP_GT_OQ>(these[k].0, others[k].0));
            }
            _mm256_movemask_ps(any) as u8
        }
    }
    #[inline(always)]
    fn swap_halves(self) -> Self {
        Ymm(unsafe { _mm256_permute2f128_ps::<1>(self.0, self.0) })
    }
    #[inline(always)]
    fn top_bits(of: &[u32; 8]) -> u8 {
        unsafe { _mm256_movemask_ps(_mm256_loadu_ps(of.as_ptr().cast())) as u8 }
    }
    #[inline(always)]
    fn select_lt(self, other: Self, yes: Self, no: Self) -> Self {
        unsafe {
            let less = _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0);
            Ymm(_mm256_blendv_ps(no.0, yes.0, less))
        }
    }
}

impl F64x4 for YmmD {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        YmmD(unsafe { _mm256_set1_pd(x) })
    }
    #[inline(always)]
    fn new(lanes: [f64; 4]) -> Self {
        YmmD(unsafe { _mm256_loadu_pd(lanes.as_ptr()) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        YmmD(unsafe { _mm256_add_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        YmmD(unsafe { _mm256_sub_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        YmmD(unsafe { _mm256_mul_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        YmmD(unsafe { _mm256_fmadd_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        YmmD(unsafe { _mm256_fmsub_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        YmmD(unsafe { _mm256_min_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        YmmD(unsafe { _mm256_max_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        YmmD(unsafe { _mm256_div_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn select_lt(self, other: Self, yes: Self, no: Self) -> Self {
        unsafe {
            let less = _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0);
            YmmD(_mm256_blendv_pd(no.0, yes.0, less))
        }
    }
    #[inline(always)]
    fn gt(self, other: Self) -> u8 {
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0)) as u8 }
    }
    #[inline(always)]
    fn to_array(self) -> [f64; 4] {
        let mut out = [0.0; 4];
        unsafe { _mm256_storeu_pd(out.as_mut_ptr(), self.0) };
        out
    }
}
