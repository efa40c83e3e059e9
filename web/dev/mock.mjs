// A server for developing and testing the page without the real one: serves web/dist and speaks
// docs/view-protocol.md and the JSON of docs/client-protocol.md over a simulated hall.
//
//   node dev/mock.mjs [--port 7448] [--bodies 300] [--token T] [--recording] [--hostile]
//     [--groups]: a second group of nodes; [--keys]: a cart that keys steer
//     [--no-hold]: does not hold ticks for frozen pictures
//     [--check]: a scene that was checked, with findings; [--spike]: one status in five is a spike
//     [--stall SECONDS]: the world stops after this time, while statuses continue
//     [--dist DIR]: another build of the page
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { WebSocketServer } from "ws";
import { AVATAR_FORM, EXTENT, FORMS, MESHES } from "./mock/forms.mjs";
import { closePairs, frame } from "./mock/frames.mjs";
import { Recorded } from "./mock/recording.mjs";
import { distance, GROUP, GROUP_NODE, RATE, World } from "./mock/world.mjs";

const OTHER_MEMBERS = {
  group: GROUP,
  leader: GROUP_NODE,
  members: [{ node: GROUP_NODE, objects: 12, silent_ms: 8, delays_ms: { 1: 121 } }],
};

const { values: options } = parseArgs({
  options: {
    port: { type: "string", default: "7448" },
    bodies: { type: "string" },
    token: { type: "string" },
    recording: { type: "boolean", default: false },
    hostile: { type: "boolean", default: false },
    groups: { type: "boolean", default: false },
    keys: { type: "boolean", default: false },
    "no-hold": { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    spike: { type: "boolean", default: false },
    stall: { type: "string" },
    dist: { type: "string" },
  },
});
const recorded = options.recording ? new Recorded(Number(options.bodies ?? 120)) : null;
const world = recorded?.world ?? new World(Number(options.bodies ?? 300));
if (options.groups) world.addGroup();
const cart = options.keys ? world.addCart() : null;
/** Like the KeySensors of a scene: Qt's numbers, and the velocity that the cart gets. */
const KEYS = [
  { value: 0x1012, state: 0, does: "CART moves at -4 0 0 m/s", velocity: [-4, 0, 0] },
  { value: 0x1014, state: 0, does: "CART moves at 4 0 0 m/s", velocity: [4, 0, 0] },
  { value: 0x1014, state: 0x100, does: "CART moves at 8 0 0 m/s", velocity: [8, 0, 0] },
  { value: 0x20, state: 0, does: "CART moves at 0 0 0 m/s", velocity: [0, 0, 0] },
];
const CLASSES = ["immovable", "dynamic", "avatar", "absent", "foreign"];
const viewers = new Set();
const walkers = new Set();
const traffic = { sent: 0, received: 0 };
const idOf = (text) => (BigInt(text) > 2n ** 53n ? BigInt(text) : Number(text));
const shared = (object) => world.shared(object);

// HTTP: the page and the meshes.

const DIST = options.dist ?? fileURLToPath(new URL("../dist", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** In the format of the real server. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "font-src 'self'; connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

const server = createServer(async (request, answer) => {
  const path = new URL(request.url, "http://mock").pathname;
  const mesh = path.startsWith("/mesh/") ? MESHES.get(path.slice(6)) : undefined;
  if (mesh) {
    answer.writeHead(200, { "cache-control": "public, max-age=31536000, immutable" });
    answer.end(mesh);
    return;
  }
  const file = join(DIST, normalize(path === "/" ? "/index.html" : path));
  try {
    const bytes = await readFile(file);
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    answer.writeHead(200, { "content-type": type, "content-security-policy": POLICY });
    answer.end(bytes);
  } catch {
    answer.writeHead(404).end("not here");
  }
});

const sockets = new WebSocketServer({ noServer: true });
server.on("upgrade", (request, socket, head) => {
  const path = new URL(request.url, "http://mock").pathname;
  if (path !== "/view" && path !== "/ws") return socket.destroy();
  sockets.handleUpgrade(request, socket, head, (line) => {
    if (path === "/view") welcomeViewer(line);
    else welcomeWalker(line);
  });
});

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function refusal(message) {
  const wrong = options.token !== undefined && message.token !== options.token;
  if (!wrong) return null;
  const why = message.token === undefined ? "none was sent" : "the token sent is not valid";
  return `unauthorized: this server requires --token (${why})`;
}

// Viewers.

function welcomeViewer(line) {
  const viewer = { line, selected: null, clearance: null, whole: true, regions: 0 };
  viewer.send = (message) => line.send(JSON.stringify(message));
  line.once("message", (text) => {
    const why = refusal(parse(text));
    if (why) {
      viewer.send({ type: "refused", why });
      line.close();
      return;
    }
    viewer.send(describe());
    if (options.check) viewer.send(FINDINGS);
    else if (!recorded) viewer.send(demo());
    viewers.add(viewer);
    if (recorded) sendReplay();
    line.on("message", (next) => onViewerMessage(viewer, parse(next)));
  });
  line.on("close", () => viewers.delete(viewer));
}

/** Findings in the format of a check, about named walls and balls. */
const finding = (kind, a, b, distance, x) => {
  const points = [[x, 0, 0], [x + distance, 0, 0]];
  const segments = distance > 0 ? [] : [[[x, 0, 0], [x, 0.5, 0]], [[x, 0.5, 0], [x, 0.5, 0.5]]];
  return { kind, a: [a], b: [b], distance, points, segments };
};
const FINDINGS = {
  type: "findings",
  of: "check",
  clearance: 0.1,
  unit: "mm",
  complete: true,
  findings: [
    finding("overlap", "106", "107", 0, 0),
    finding("touch", "100", "106", 0, -8),
    finding("too_close", "100", "107", 0.05, -9),
  ],
};

function describe() {
  const controls = options.check
    ? []
    : recorded
    ? ["play", "pause", "speed", "seek", "step", "collision"]
    : ["kill", "add", "network", "bodies", ...(cart ? ["key"] : [])];
  return {
    type: "world",
    kind: options.check ? "check" : recorded ? "recording" : cart ? "scene" : "shared",
    name: recorded ? "recording-mock" : "hall-mock",
    ticks_per_second: RATE,
    extent: EXTENT,
    reach: 12,
    poses: {},
    avatar: recorded || cart || options.check ? null : AVATAR_FORM,
    forms: FORMS.map(({ half, content }) => ({ half, content })),
    names: { 100: "WEST_WALL", 106: "RESTING_BALL", 107: "OTHER_BALL", ...(cart ? { [cart.id]: "CART" } : {}) },
    controls,
    keys: cart ? KEYS.map(({ value, state, does }) => ({ value, state, does })) : [],
    recording: recorded && {
      first: recorded.first,
      last: recorded.last,
      collisions: recorded.collisions,
    },
  };
}

function demo() {
  const { nodes, network, bodies } = world;
  return { type: "demo", nodes, network, bodies, bots: 0 };
}

function onViewerMessage(viewer, message) {
  if (message.type === "pick") viewer.send(picked(message, viewer.held));
  if (message.type === "static") {
    const findings = [finding("touch", "100", "102", 0, -8)];
    viewer.send({ ...FINDINGS, of: "static", clearance: message.clearance, unit: "m", findings });
  }
  if (message.type === "hold") hold(viewer);
  if (message.type === "release") viewer.held = null;
  if (message.type === "select") viewer.selected = message.id === null ? null : idOf(message.id);
  if (message.type === "clearance") viewer.clearance = message.metres;
  if (message.type !== "control") return;
  const error = recorded ? recorded.order(message) : order(message);
  viewer.send({ type: "controlled", do: message.do, error });
  if (recorded) {
    sendReplay();
    sendFrames(true);
  } else for (const other of viewers) other.send(demo());
}

function order(message) {
  if (message.do === "key") return press(message);
  if (message.do === "kill") return world.kill(message.node);
  if (message.do === "add") return world.add();
  if (message.do === "bodies") return world.setBodies(message.count) ?? null;
  if (message.do === "network") {
    world.network = { delay_ms: message.delay_ms, loss: message.loss };
    return null;
  }
  return "not known here";
}

function press({ value, state }) {
  const key = KEYS.find((one) => one.value === value && one.state === state);
  if (!key || !cart) return "no KeySensor listens to that key";
  cart.velocity = [...key.velocity];
  cart.fresh = true;
  return null;
}

/** Holds the current tick for a viewer: its queries refer to it. */
function hold(viewer) {
  if (options["no-hold"]) return viewer.send({ type: "held", tick: null, error: "no room for it" });
  const copy = (one) => ({ ...one, position: [...one.position], velocity: [...one.velocity] });
  const objects = [...world.objects.values()].map(copy);
  viewer.held = { tick: world.tick, objects: new Map(objects.map((one) => [one.id, one])) };
  viewer.send({ type: "held", tick: world.tick, error: null });
  const { tick, touching } = world;
  const bytes = frame({ tick, objects, gone: [], touching, whole: true, shared });
  bytes.writeUInt8(3, 0);
  viewer.line.send(bytes);
}

function picked({ origin, direction }, held) {
  const hit = world.pick(origin, direction, held?.objects);
  if (!hit) return { type: "picked", id: null };
  const { object, point } = hit;
  return {
    type: "picked",
    id: String(object.id),
    name: describe().names[object.id] ?? null,
    point,
    face: 0,
    faces: FORMS[object.form].faces,
    class: CLASSES[object.kind],
    shape: object.form,
    group: object.kind === 4 ? GROUP : 0,
    owner: object.kind === 4 ? GROUP_NODE : world.ownerOf(object.position),
    tick: held?.tick ?? world.tick,
    velocity: object.velocity,
    spin: object.spin,
  };
}

function contacts(viewer) {
  const own = world.objects.get(viewer.selected);
  if (!own) return;
  const found = world.touching.filter((pair) => pair.includes(own));
  const touching = found.map(([one, other]) => {
    const partner = one === own ? other : one;
    const middle = own.position.map((part, axis) => (part + partner.position[axis]) / 2);
    const up = middle.map((part, axis) => part + (axis === 1 ? 0.5 : 0));
    return { id: String(partner.id), faces: [[0, 0], [1, 2]], segments: [[middle, up]] };
  });
  const near = [...world.objects.values()]
    .filter((one) => one !== own && one.kind !== 0 && viewer.clearance !== null)
    .map((one) => ({ one, apart: distance(own, one) }))
    .filter(({ apart }) => apart > 0 && apart < viewer.clearance)
    .map(({ one, apart }) => {
      return { id: String(one.id), distance: apart, points: [own.position, one.position] };
    });
  viewer.send({ type: "contacts", id: String(own.id), tick: world.tick, with: touching, near });
}

function sendReplay() {
  const { tick, playing, factor } = recorded;
  for (const viewer of viewers) viewer.send({ type: "replay", tick, playing, factor });
}

function sendFrames(whole = false) {
  const { objects, touching } = recorded?.state ?? {
    objects: [...world.objects.values()],
    touching: world.touching,
  };
  const tick = recorded?.tick ?? world.tick;
  const make = (all) =>
    frame({
      tick,
      objects: all ? objects : objects.filter((one) => one.changed),
      gone: all ? [] : world.gone,
      touching,
      whole: all,
      shared,
    });
  let [few, all] = [null, null];
  for (const viewer of viewers) {
    const everything = whole || viewer.whole;
    const bytes = everything ? (all ??= make(true)) : (few ??= make(false));
    // A slow reader gets fewer frames, and then a whole one.
    viewer.whole = viewer.line.bufferedAmount > 1e6;
    if (viewer.whole) continue;
    viewer.line.send(bytes);
    traffic.sent += bytes.length;
  }
}

function sendRegions() {
  for (const viewer of viewers) {
    if (viewer.regions === world.regionsView) continue;
    viewer.regions = world.regionsView;
    const { nodes, leaves, regionsView: view } = world;
    const others = options.groups ? [world.otherGroup()] : [];
    viewer.send({ type: "regions", view, group: 0, leader: nodes[0], nodes, leaves, others });
  }
}

function status() {
  const moving = [...world.objects.values()];
  const owners = moving.map((one) => world.ownerOf(one.position));
  const members = world.nodes.map((node) => ({
    node,
    objects: owners.filter((owner) => owner === node).length,
    silent_ms: 12,
    delays_ms: Object.fromEntries(world.nodes.map((other) => [other, 0.4 + world.network.delay_ms])),
  }));
  const spike = options.spike && ++statuses % 5 === 0 ? 40 : 1;
  const wobble = (base) => spike * base * (0.8 + 0.4 * Math.random()) * (moving.length / 1000 + 0.3);
  return {
    tick: world.tick,
    tick_age_ms: stalled() ? Date.now() - start : 12,
    ticks_per_second: 30,
    dilation: 1,
    objects: moving.length,
    clients: walkers.size,
    tick_ms: { p50: 33.3, p99: 35.1 },
    input_ms: { p50: 41 + world.network.delay_ms, p99: 66 + world.network.delay_ms * 2 },
    groups: [{ group: 0, leader: world.nodes[0], members }, ...(options.groups ? [OTHER_MEMBERS] : [])],
    nodes: { sent_bytes: world.tick * 21000, received_bytes: world.tick * 21000 },
    edge: { sent_bytes: traffic.sent, received_bytes: traffic.received },
    stages: {
      move: wobble(0.4),
      bundles: wobble(0.6),
      detect: wobble(2.1),
      commit: wobble(0.7),
      send: wobble(0.8),
    },
    pairs_tested: world.pairsTested,
    collisions: world.touching.length,
  };
}

let statuses = 0;
const stalled = () => options.stall !== undefined && Date.now() - start > Number(options.stall) * 1000;

// Walkers.

function welcomeWalker(line) {
  let avatar = null;
  const send = (message) => line.send(JSON.stringify(message));
  line.on("message", (text) => {
    traffic.received += text.length;
    const message = parse(text);
    if (message.type === "hello") {
      const why = refusal(message);
      if (why) {
        send({ type: "refused", why });
        return line.close();
      }
      avatar = (message.credential && world.objects.get(BigInt(message.credential))) || world.addAvatar();
      send({
        type: "welcome",
        world: "hall-mock",
        avatar: String(avatar.id),
        credential: String(avatar.id),
        tick: world.tick,
        ticks_per_second: RATE,
        limits: { speed: 10, spin: 6, change: 100 },
        forms: [],
      });
      walkers.add({ line, send, avatar });
    }
    if (message.type === "steer" && avatar) {
      avatar.velocity = message.velocity.map(Number);
      avatar.fresh = true;
    }
    if (message.type === "bye" && avatar) world.remove(avatar.id);
  });
  line.on("close", () => {
    for (const walker of walkers) if (walker.line === line) walkers.delete(walker);
    if (avatar) avatar.velocity = [0, 0, 0];
  });
}

function sendOwn() {
  for (const { send, avatar } of walkers) {
    const { position, rotation, velocity, spin } = avatar;
    send({ type: "world", tick: world.tick, own: { position, rotation, velocity, spin }, others: [], contacts: [] });
  }
}

// Time.

const start = Date.now();
let sentTick = 0;
setInterval(() => {
  const due = Math.floor(((Date.now() - start) / 1000) * RATE);
  if (due === sentTick || stalled()) return;
  sentTick = due;
  if (recorded) {
    if (recorded.advance()) {
      sendFrames(true);
      sendReplay();
    } else if ([...viewers].some((viewer) => viewer.whole)) sendFrames();
  } else {
    world.step();
    sendFrames();
    world.gone = [];
    sendOwn();
  }
  sendRegions();
}, 4);

setInterval(() => {
  for (const viewer of viewers) {
    if (viewer.selected !== null) contacts(viewer);
    if (viewer.clearance === null) continue;
    viewer.line.send(closePairs(world.tick, viewer.clearance, world.close(viewer.clearance)));
  }
}, 200);

setInterval(() => {
  for (const viewer of viewers) viewer.send({ type: "status", status: status() });
}, 1000);

if (options.hostile) {
  const junk = Buffer.from([1, 0, 0, 0, 255, 255, 255, 255, ...new Array(24).fill(7)]);
  setInterval(() => {
    for (const viewer of viewers) {
      viewer.line.send(junk);
      viewer.line.send(Buffer.from([9]));
      viewer.line.send("{");
      viewer.line.send('{"type":"regions","leaves":[null],"nodes":"x","group":0}');
      viewer.line.send('{"type":"world","forms":[{"half":[1]}]}');
      viewer.line.send('{"type":"contacts","id":17,"with":[{}]}');
      viewer.line.send('{"type":"status","status":{"groups":[{"members":[null,{"node":"x"}]}],"stages":{"a":"b"}}}');
    }
  }, 300);
}

server.listen(Number(options.port), "127.0.0.1", () => {
  console.log(`mock: http://127.0.0.1:${server.address().port}/`);
});
