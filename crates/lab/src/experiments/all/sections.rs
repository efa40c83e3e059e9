//! The experiments of the document, and what was learned from each.

/// One experiment: a command, and what it taught.
pub(super) struct Section {
    /// The subcommand of `jostle lab`.
    pub(super) name: &'static str,
    /// What the file of its plot is called.
    pub(super) figure: &'static str,
    pub(super) title: &'static str,
    /// As they are typed.
    pub(super) options: &'static str,
    pub(super) quick: &'static str,
    /// What stays true from run to run; numbers are in the tables.
    pub(super) learned: &'static str,
}

pub(super) const HEAD: &str = "\
# The laboratory

This document is written by `jostle lab all`. Hierarchies and pair tests of the papers share one
interface (`crates/lab`), end in the same exact test of two triangles, and get the same queries as
the default hierarchy; an answer that differs ends the run with an error. So methods differ in time,
memory and counts only. QuickCD, with which Zachmann's thesis compares, is missing. Times are
processor time of one thread, and the methods that are compared take turns.
";

pub(super) const OTHERS: &str = "
## Other experiments

`jostle lab broad`, `bunnies` and `ten-objects` measure a world as it is shipped (`broad` beside the
papers' structures, `ten-objects --trees` beside the paper's trees), `storey` its nodes without a
network, `regions` leaves that follow the population. `spheres`, `groups` and `latency` measure
methods of which a served world uses some: relations between auras, grouping all nodes anew
(`form`), tracking by a history of positions and updates that adapt to what is near
(`reckon::Sender`) run in these experiments and in tests only. [command-line.md](command-line.md)
describes what each prints.
";

pub(super) const SECTIONS: &[Section] = &[
    Section {
        name: "zachmann",
        figure: "lab-zachmann.svg",
        title: "Two copies come closer while one turns",
        options: "--steps 100",
        quick: "--solid torus --triangles 100 --steps 8 --orientations 1 --build 100 --polygons \
            200",
        learned: ZACHMANN,
    },
    Section {
        name: "zachmann",
        figure: "lab-zachmann-large.svg",
        title: "The same with larger meshes and fewer methods",
        options: "--solid sphere,torus,hyperboloid,bumpy,flake --triangles 4000,16000,64000 \
            --orientations 2 --method \
            planes+ours,obb,boxtree-aligned,dop-6,dop-14,dop-24,dop-32 --build 0 --polygons \
            0",
        quick: "--solid cone --triangles 100 --steps 8 --orientations 1 --build 0 --polygons 0 \
            --method obb,dop-24",
        learned: ZACHMANN_LARGE,
    },
    Section {
        name: "convex",
        figure: "lab-convex.svg",
        title: "Convex hulls before the exact test",
        options: "",
        quick: "--steps 50 --samples 20 --distance 1.5,2.2 --degrees 2 --triangles 100 --n 10 \
            --frames 3",
        learned: CONVEX,
    },
    Section {
        name: "tightness",
        figure: "lab-tightness.svg",
        title: "How much larger than the hull is a volume?",
        options: "--triangles 5000 --steps 200",
        quick: "--triangles 500 --steps 3 --object ship",
        learned: TIGHTNESS,
    },
    Section {
        name: "splits",
        figure: "lab-splits.svg",
        title: "Split rules and leaf sizes",
        options: "--triangles 2000",
        quick: "--triangles 500 --object ship --questions 3 --threshold 1",
        learned: SPLITS,
    },
    Section {
        name: "boxtree",
        figure: "lab-boxtree.svg",
        title: "How BoxTrees are split",
        options: "--triangles 1000 --turns 30",
        quick: "--triangles 200 --solid torus --empty 0.2 --turns 5",
        learned: BOXTREE,
    },
    Section {
        name: "deform",
        figure: "lab-deform.svg",
        title: "Meshes that change their form",
        options: "--triangles 500,2000",
        quick: "--triangles 200 --scene sheets --frames 3",
        learned: DEFORM,
    },
    Section {
        name: "links",
        figure: "lab-links.svg",
        title: "Links between trees, kept from question to question",
        options: "--triangles 1000,5000",
        quick: "--triangles 200 --solid torus --turns 5",
        learned: LINKS,
    },
    Section {
        name: "voxels",
        figure: "lab-voxels.svg",
        title: "Points against voxels",
        options: "",
        quick: "--triangles 200 --solid torus --voxels 16 --turns 5",
        learned: VOXELS,
    },
    Section {
        name: "resting",
        figure: "lab-resting.svg",
        title: "Volumes that stay where they are",
        options: "",
        quick: "--solid torus --triangles 100 --turns 4 --frames 1,3",
        learned: RESTING,
    },
    Section {
        name: "bsp",
        figure: "lab-bsp.svg",
        title: "BSP trees, cut off at a depth",
        options: "",
        quick: "--solid torus --triangles 100 --turns 4 --depth 3,6",
        learned: BSP,
    },
    Section {
        name: "regions",
        figure: "lab-regions.svg",
        title: "Leaves that follow the population",
        options: "",
        quick: "--objects 50,100 --frames 10 --thresholds 4/6,6/6",
        learned: REGIONS,
    },
];

const ZACHMANN: &str = "\
The default hierarchy is more than twice as fast as the best laboratory method on every mesh; which
method is the best depends on the mesh. DOP-trees and oriented boxes take turns as winners, and
BoxTrees are clearly slower, both as in the thesis. Clipped BoxTrees are slower by far, because a
triangle that crosses a cut is in both halves. Time falls up to about k = 20 and stays level beyond
(the thesis: up to 24); 8 and 10 are worst, as in the thesis. Generated correspondence functions
save up to a sixth at k = 6, and nothing on the cone; the thesis gains 1.2 to 2.3 times.
Ohlenburg's boundary of each node takes the fewest tests of all 18-DOPs, and in most cases more
time than sums; the boundary of the node above is so loose that nearly all gain is lost. The cone,
whose thin triangles all meet in one point, separates the methods most: a method that encloses thin
triangles loosely takes a thousand times as long.

A 6-DOP-tree takes a quarter of the memory of oriented boxes and a fifth of the time to build (in
the thesis 4 to 8 and 2 to 4 times less); with 14 directions it takes half the memory. Leaves are
as deep as in the thesis' table 3.2. The default hierarchy takes an eighth of the time and less
than half the memory of the smallest tree. The thesis' rule for polygons is confirmed too: in
rounded numbers, triangles and quads are tested faster after cutting them into triangles (Möller),
and 5-gons by their edges. With exact signs, cutting into triangles, which we do once in advance,
stays ahead up to five corners.
";

const ZACHMANN_LARGE: &str = "\
The default hierarchy stays ahead of the best laboratory method by more than the required factor of
two. The reason is its width: it does not make fewer tests of volumes than a tree of oriented
boxes, which is the best of the others here, but eight of them at a time. Separating planes as a
filter make it slower, because around contact the search for most planes fails.
";

const CONVEX: &str = "\
**Separating planes beat the default hierarchy on one class of inputs: convex objects that are near
each other and do not touch.** At a distance of 2.00006, with contact at 2, a kept plane takes a
twentieth of the time. The surprising result of the thesis, that distance hardly matters, is
confirmed. Where objects intersect, planes are slower by fifteen times and more, because all of
them are tried in vain; and far apart the default hierarchy needs next to no time. For meshes in
general the hull is only a filter before the exact test. In a crowd it never pays: most exact tests
are saved, but an exact test of ours is cheaper than finding a plane. The combination of grid and
planes that the thesis planned is therefore slower than the grid alone for every number of objects,
and its advice to use planes alone below 30 objects does not hold today.

The errors of the thesis' table are confirmed in their order, and in size within a factor of four,
for other cones on other paths. The annealing is confirmed, too: it helps for ten planes and harms
beyond. The reason is not in the thesis: the sum of all turns is then bounded (at 0.97, by 33 times
the first), so a search of a thousand planes stands still after the first hundred. The thesis'
choice of eta is good, but others are as good: 0.1 does well for all three limits. The largest gain
costs nothing and is not in the thesis: the offset of the plane need not be learned, because the
two corners that are nearest along its normal are known. With that, ten planes leave a third of the
errors or less.

Time grows less than linearly with rotation, and hardly with size. Closest faces, which the thesis
never measured, are slower than planes and GJK by ten times and more while nothing touches, and
faster than planes where objects intersect. The thesis' lemma has to be corrected: with neighbours
across edges, equally close pairs must be visited wherever a corner is closest, not only for
coplanar faces. With the faces around a corner as neighbours, on one object at a time, this rule is
not needed, and the search takes about half the time. GJK, twelve years older than the thesis, is
nearly as fast as planes unless objects almost touch, and terminates by itself when they do. None
of the three ever called touching objects apart: the verdict is proved.
";

const TIGHTNESS: &str = "\
An 18-DOP is smaller than a box along the axes for every object: 39 to 64 % of it (the paper: 44 to
61 %). It is smaller than an oriented box for seven of eight objects, in the paper for four of
eight; the two are close. The objects are not the paper's: most of the stand-ins are longer and
flatter, as their spheres show. The paper's table leaves out that a tree cannot enclose the turned
object anew, but only the turned volume. For six of the eight objects that makes a DOP larger by 29
to 43 %, for the bird by 60 % and for the pipes by 9 %; a box along the axes becomes 2.0 to 2.8
times as large, that of the pipes 1.37 times.
";

const SPLITS: &str = "\
With re-alignment by sums, leaves of one or two triangles are equally good and leaves of ten cost
twice as much. With boundaries, the paper's method, which takes about twice the time, two to four
are best, at 60 and 33 % of the memory. The paper differs: two of its three scenes are fastest with
leaves of one polygon, and the third with four, where it suspects that memory ran out. With leaves
of up to four, minimal sums are faster than the longest side by 14 to 19 % (the paper, with leaves
of one: by 16 and 20 % in two scenes, and slower by 20 % in the third). But splatter gains as much,
and minimal sums (and maxima, for which the paper has no figures) take 70 to 113 times as long to
build, not four times. Zachmann's alternating ends, which the paper does not mention, are about as
good with leaves of four and the best from ten on, and take twice as long to build as the longest
side. Heights are up to 1.5 times the optimal ones, for the truck 1.8 times (in the paper 2.1 to
6.2), and with alternating ends up to twice.
";

const BOXTREE: &str = "\
Splitting off empty boxes is the most important choice: without it a query takes several times the
tests, most of all for the hyperboloid. Shares below a fifth are all about as good. The criterion
then matters little. The thesis' first criterion is among the best, as in the thesis; its longest
side (4) and its axes in turn (11) are as good, unlike in the thesis. Its thirteenth, 199 times
slower there, is average here, with empty boxes and without: polygons are shuffled before they are
divided greedily, and then no axis has much overlap. Taken in the order of a mesh, one half
gradually covers everything, whatever the criterion.
";

const DEFORM: &str = "\
The thesis finds the box pipeline faster than a grow-shrink tree in all practical cases. That holds
where much is near (sheets above each other). Where little is near, the tree visits few nodes and
wins, here for the hyperboloid. Sorted brackets lose by far everywhere, as in the thesis: one axis
alone has nearly all pairs. For a single query per frame the box pipeline also beats our hierarchy:
fitting all boxes takes longer than testing all triangles once. If all pairs are queried the two
are about even, and further queries of the frame are several times cheaper with the hierarchy.
Threads do not pay at these sizes.
";

const LINKS: &str = "\
Links save alignments, as in the thesis, by two to six times; a factor of about five holds for
spheres only. More than half of that is gained without links if each node is aligned once per
query. There are slightly fewer tests and three times as many visits, and the time is about the
same, as the thesis found. No list of deferred links is needed if links are visited from below.
";

const VOXELS: &str = "\
The error stays within the bound. But to miss no contact, voxels need a reach, and then a tenth to
a half of the queries near contact get a wrong yes. The exact answer takes a small part of the
time: a test of one point is fast, but there are too many points. A cloud over the triangles of a
mesh needs four times the points that the thesis estimates for a round body, and more if triangles
are smaller than the error.
";

const RESTING: &str = "\
Ohlenburg's other method, to keep with each volume the placement for which it was aligned, saves
exactly the alignments that it should: four of five for objects that stay for five frames. It
hardly saves time, from a tenth less (twenty frames in a place) to a tenth more (never in the same
place twice), because an alignment by sums is about as cheap as comparing placements; and it takes
half as much memory again.
";

const BSP: &str = "\
Storey's trees give an answer within any time limit, but until the walk is deep, near objects are
taken as touching: at 24 levels of both trees together half to five sixths of the copies near each
other, at 32 none. Each level below 16 costs more than the thesis' factor of two, and the exact
answer takes 10 to 140 times as long as that of the default hierarchy, because triangles that cross
planes are on both sides. The thesis has no figures to compare with.
";

const REGIONS: &str = "\
Thresholds that differ have the effect that the thesis expects: with 4 and 6 two fifths fewer
leaves are cut and merged than with 6 and 6, and an eighth fewer pairs share a leaf, for a fifth
more leaves. Leaves four times as large change twenty times less and have five times the pairs.
Nothing is timed; the counts depend on the workload and its seed.
";
