//! The paper's own figures: two Xeons of 2 GHz in 2003, other objects.

use crate::experiments::table::Table;
use crate::tree::Object;

/// Heights: optimal, longest side, splatter, min sum (table 3.2); seconds to build: longest side,
/// splatter, min sum (table 3.3).
const TREES: [(Object, [u32; 4], [f64; 3]); 8] = [
    (Object::Figure, [13, 17, 18, 17], [9.11, 8.89, 35.70]),
    (Object::Ship, [13, 19, 18, 17], [4.72, 4.72, 16.64]),
    (Object::Car, [14, 22, 20, 20], [30.83, 31.61, 125.97]),
    (Object::Coupe, [12, 16, 17, 16], [2.22, 2.27, 7.49]),
    (Object::Bird, [15, 20, 19, 22], [44.84, 37.59, 157.52]),
    (Object::Tree, [16, 22, 22, 22], [240.48, 302.09, 1141.98]),
    (Object::Pipes, [16, 21, 21, 21], [212.00, 197.77, 819.52]),
    (Object::Truck, [16, 99, 34, 56], [270.42, 285.91, 946.31]),
];

/// Tables 3.4 to 3.6: threshold, height, KByte, and ms of longest side, splatter and min sum.
type Times = [(usize, u32, f64, [f64; 3]); 20];

const FIGURES: Times = [
    (1, 18, 25377.47, [0.60978, 0.6281, 0.5139]),
    (2, 17, 15527.16, [0.70629, 0.6980, 0.5489]),
    (3, 16, 11091.84, [0.76927, 0.7800, 0.6275]),
    (4, 16, 8526.84, [0.82923, 0.8871, 0.7301]),
    (5, 15, 6973.59, [0.93983, 1.0450, 0.8528]),
    (6, 14, 5805.09, [1.07746, 1.1463, 0.9104]),
    (7, 14, 5074.78, [1.10480, 1.1470, 1.0399]),
    (8, 14, 4486.97, [1.17452, 1.2365, 1.1740]),
    (9, 14, 3952.59, [1.25937, 1.3628, 1.2616]),
    (10, 13, 3564.28, [1.44548, 1.7389, 1.4363]),
    (11, 13, 3247.22, [1.7090, 1.9447, 1.5023]),
    (12, 13, 2972.91, [1.8904, 2.1469, 1.6415]),
    (13, 13, 2759.16, [2.0278, 2.3096, 1.6520]),
    (14, 13, 2581.03, [2.2408, 2.3500, 1.6812]),
    (15, 13, 2442.10, [2.2749, 2.6367, 2.0435]),
    (16, 13, 2306.72, [2.6402, 2.6908, 2.2297]),
    (17, 12, 2153.53, [2.7382, 2.7350, 2.5680]),
    (18, 12, 2028.84, [2.8152, 3.9305, 2.8740]),
    (19, 12, 1893.47, [2.9430, 4.0333, 3.0202]),
    (20, 12, 1790.16, [3.0270, 4.1532, 3.2784]),
];

const BIRDS: Times = [
    (1, 20, 61725.66, [0.2698, 0.2279, 0.2165]),
    (2, 19, 38138.34, [0.2990, 0.2365, 0.2199]),
    (3, 18, 27137.34, [0.3543, 0.2583, 0.2403]),
    (4, 17, 20824.59, [0.4012, 0.3069, 0.2463]),
    (5, 17, 17012.72, [0.4077, 0.4078, 0.3111]),
    (6, 16, 14433.47, [0.4609, 0.4861, 0.3236]),
    (7, 16, 12399.28, [0.5416, 0.4823, 0.3458]),
    (8, 16, 10867.41, [0.6587, 0.6697, 0.3430]),
    (9, 15, 9691.78, [0.7590, 0.6998, 0.3550]),
    (10, 15, 8818.97, [0.8214, 0.8572, 0.3973]),
    (11, 15, 8053.03, [0.8569, 0.8646, 0.4800]),
    (12, 15, 7361.91, [0.9386, 1.0702, 0.5255]),
    (13, 15, 6806.16, [1.1496, 1.0777, 0.8436]),
    (14, 15, 6314.53, [1.2097, 1.3058, 0.9264]),
    (15, 14, 5890.59, [1.4321, 1.3218, 0.9342]),
    (16, 14, 5537.91, [1.5510, 1.3399, 1.2221]),
    (17, 14, 5249.34, [1.5937, 1.4591, 1.2283]),
    (18, 14, 4918.03, [1.6266, 1.7169, 1.2752]),
    (19, 14, 4700.72, [1.7403, 1.9155, 1.3158]),
    (20, 14, 4501.22, [1.8718, 2.5958, 1.4826]),
];

const TREES_TIMES: Times = [
    (1, 22, 165_169.97, [2.1097, 1.2887, 2.5305]),
    (2, 21, 98686.59, [1.9332, 1.3881, 1.5650]),
    (3, 20, 75883.03, [1.5086, 1.2747, 1.1973]),
    (4, 20, 54842.91, [1.2409, 1.1081, 0.9487]),
    (5, 20, 47443.59, [1.2552, 1.1289, 1.5979]),
    (6, 19, 42470.34, [1.3123, 1.1558, 1.6096]),
    (7, 19, 37130.16, [1.3415, 1.2827, 1.6298]),
    (8, 19, 30022.97, [1.3408, 1.3134, 1.6692]),
    (9, 18, 26485.41, [1.6489, 1.3713, 1.7153]),
    (10, 18, 24169.78, [1.8805, 1.4740, 1.7883]),
    (11, 18, 22370.72, [1.9941, 1.5686, 1.8273]),
    (12, 18, 20764.03, [2.0515, 1.7757, 2.1008]),
    (13, 18, 19527.84, [2.1489, 1.8147, 2.2538]),
    (14, 18, 18480.47, [2.6107, 2.0567, 2.3290]),
    (15, 18, 17230.03, [2.6338, 2.1476, 2.3421]),
    (16, 17, 15605.53, [2.6351, 2.1416, 2.6766]),
    (17, 17, 14679.28, [2.8081, 2.4672, 2.7521]),
    (18, 16, 14034.47, [2.8303, 2.4743, 2.9627]),
    (19, 16, 13396.78, [3.5613, 3.0589, 2.9694]),
    (20, 16, 12794.72, [3.5635, 3.2552, 3.0637]),
];

/// Tables 3.2 and 3.3, of these objects.
pub(super) fn trees(objects: &[Object]) -> Table {
    let titles = [
        "paper",
        "optimal height",
        "longest side",
        "splatter",
        "min sum",
        "build s: longest side",
        "splatter",
        "min sum",
    ];
    let mut table = Table::new(&titles);
    for (object, heights, seconds) in TREES {
        if objects.contains(&object) {
            let mut cells = vec![object.paper().to_owned()];
            cells.extend(heights.map(|height| height.to_string()));
            cells.extend(seconds.map(|seconds| format!("{seconds:.2}")));
            table.line(cells);
        }
    }
    table.note("Ohlenburg 2003, tables 3.2 and 3.3".to_owned());
    table
}

/// Tables 3.4 to 3.6, of these objects and leaf sizes.
pub(super) fn times(objects: &[Object], thresholds: &[usize]) -> Table {
    let titles = ["paper", "leaf", "height", "KByte", "ms: longest side", "splatter", "min sum"];
    let mut table = Table::new(&titles);
    let all = [
        (Object::Figure, "ten_als", FIGURES),
        (Object::Bird, "ten_eagles", BIRDS),
        (Object::Tree, "ten_trees", TREES_TIMES),
    ];
    for (object, scene, times) in all {
        let shown = times.iter().filter(|(threshold, ..)| thresholds.contains(threshold));
        for (threshold, height, kilobytes, ms) in shown.filter(|_| objects.contains(&object)) {
            let mut cells = vec![scene.to_owned(), threshold.to_string(), height.to_string()];
            cells.push(format!("{kilobytes:.0}"));
            cells.extend(ms.map(|ms| format!("{ms:.4}")));
            table.line(cells);
        }
    }
    table.note("Ohlenburg 2003, tables 3.4 to 3.6: a pair in close proximity".to_owned());
    table
}
