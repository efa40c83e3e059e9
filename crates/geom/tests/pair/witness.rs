//! Where do they touch?

use crate::cases::{self, Case};
use jostle_geom::FacePair;

#[test]
fn witnesses_and_segments_lie_on_both_faces() {
    let (mut yes, mut no) = (0, 0);
    let mut all: Vec<Case> = cases::mixed();
    all.extend(cases::far_away(700..704));
    all.extend(cases::segments_and_points(710..716));
    for case in all {
        case.each(|pair, twin, place| {
            let (touching, slack) = (twin.touching(), twin.rounding());
            let witness = pair.witness();
            assert_eq!(witness.is_some(), !touching.is_empty(), "{place}");
            if let Some(w) = witness {
                yes += 1;
                assert!(touching.contains(&w.faces), "{w:?}: {place}");
                let off = twin.off_faces(w.faces, w.point, w.point);
                assert!(off <= slack, "{off} off, {w:?}: {place}");
            } else {
                no += 1;
            }
            let segments = pair.all_segments();
            let faces: Vec<FacePair> = segments.iter().map(|s| s.faces).collect();
            assert_eq!(faces, touching, "{place}");
            for segment in &segments {
                for end in segment.ends {
                    let off = twin.off_faces(segment.faces, end, end);
                    assert!(off <= slack, "{off} off, {segment:?}: {place}");
                }
            }
            let mut faces = faces;
            faces.dedup();
            assert_eq!(pair.all_pairs(), faces, "{place}");
        });
    }
    assert!(yes > 0 && no > 0, "{yes} yes, {no} no");
}
