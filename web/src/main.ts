// The page. Messages update the store, the store is drawn, and user actions are sent back: this
// file connects the parts and decides nothing else.
import "./style.css";
import "./steer.css";
import "./lists.css";
import "./narrow.css";
import { Viewpoint, type CameraMode } from "./camera";
import { Card } from "./card";
import { findingKind } from "./colours";
import { Help } from "./help";
import { button, canvas, input, part, write } from "./dom";
import type { Id } from "./ids";
import { ServerConnection, type LineState } from "./connection";
import { showOutside } from "./outside";
import { DemoControls } from "./panel/demo";
import { FindingList } from "./panel/findings";
import { ObjectList } from "./panel/objects";
import { Panel } from "./panel/panel";
import { distanceWords } from "./panel/text";
import { Pace, TickRate } from "./pace";
import { decodeBinary } from "./protocol/frame";
import {
  readView,
  type Finding,
  type Findings,
  type Picked,
  type Vec3,
  type ViewMessage,
  type World,
} from "./protocol/messages";
import { ReplayBar } from "./replay";
import { boxAround, diagonal } from "./scene/bounds";
import { View } from "./scene/view";
import { ThemeSwitch } from "./theme";
import { Token } from "./token";
import { Tour } from "./tour";
import { Freeze } from "./freeze";
import { Visibility } from "./visibility";
import { gamepad, isTyping, Keys } from "./walk/keys";
import { SceneKeys } from "./walk/sensors";
import { Stick } from "./walk/stick";
import { Walk } from "./walk/walk";
import { Clock } from "./world/clock";
import { RegionMap } from "./world/regions";
import { POSE_VALUES, Store } from "./world/store";

/** Interval of text updates. */
const PANEL_MS = 250;
const STICK_TURN = 2.2;

class Page {
  readonly store = new Store();
  readonly regions = new RegionMap();
  readonly clock = new Clock();
  readonly pace = new Pace();
  readonly view = new View(canvas("picture"));
  readonly viewpoint: Viewpoint;
  readonly walk: Walk;
  world: World | null = null;
  selected: Id | null = null;
  /** Malformed messages. */
  faults = 0;
  readonly freeze: Freeze;
  private readonly keys: Keys;
  private readonly stick: Stick;
  private readonly sceneKeys: SceneKeys;
  private readonly token = new Token(() => this.connection.start());
  private readonly connection: ServerConnection;
  readonly panel: Panel;
  private readonly demo: DemoControls;
  private readonly replay: ReplayBar;
  readonly visibility = new Visibility(() => this.visibilityChanged());
  readonly findings: FindingList;
  private readonly objects: ObjectList;
  private readonly card: Card;
  private readonly help = new Help();
  private readonly ticks = new TickRate();
  private unit = "";
  /** The version of the shapes that the camera was fitted to. */
  private fitted = -1;
  private readonly theme = new ThemeSwitch((palette) => this.view.paint(palette));
  private readonly tour = new Tour();
  private dilation = 1;

  constructor() {
    const control = (order: object) => this.connection.send({ type: "control", ...order });
    this.panel = new Panel(this.regions, (node) => control({ do: "kill", node }));
    this.findings = new FindingList({
      name: (id) => this.nameOf(id) ?? `Object ${id}`,
      show: (finding) => this.showFinding(finding),
    });
    this.objects = new ObjectList({
      store: () => this.shown,
      name: (id) => this.nameOf(id),
      selected: () => this.selected,
      select: (id) => this.selectFromList(id),
      visibility: this.visibility,
    });
    this.card = new Card({
      close: () => this.select(null),
      hide: () => this.hideSelected(),
      isolate: () => this.isolateSelected(),
      name: (id) => this.nameOf(id),
    });
    this.demo = new DemoControls(control);
    this.replay = new ReplayBar(control);
    this.keys = new Keys(() => this.walk.sendInput());
    this.stick = new Stick(() => this.walk.sendInput());
    this.sceneKeys = new SceneKeys(control);
    this.freeze = new Freeze({
      send: (request) => this.connection.send(request),
      isOpen: () => this.connection.isOpen,
      still: () => this.store.still(),
      notice: (words) => this.notice(words),
    });
    this.walk = new Walk({
      token: () => this.token.value,
      input: () => this.input(),
      changed: (words) => this.walkChanged(words),
    });
    this.viewpoint = new Viewpoint(canvas("picture"), {
      followed: () => this.followed(),
      keys: () => (this.walk.wanted ? [0, 0, 0] : this.direction()),
      picked: (x, y) => this.pick(x, y),
    });
    this.connection = new ServerConnection("view", {
      hello: () => ({ type: "hello", ...(this.token.value ? { token: this.token.value } : {}) }),
      text: (message) => this.onText(message),
      bytes: (message) => this.onBytes(message),
      state: (state) => this.lineState(state),
    });
    this.listen();
    this.theme.apply();
    this.connection.start();
    setInterval(() => this.drawPanel(), PANEL_MS);
    requestAnimationFrame((now) => this.draw(now));
  }

  /** The world that is drawn: live, or frozen. */
  get shown(): Store {
    return this.freeze.store ?? this.store;
  }

  get received(): number {
    return this.connection.received;
  }

  private onBytes(bytes: ArrayBuffer): void {
    const message = decodeBinary(bytes);
    if (message === null || this.world === null) this.faults++;
    else if (message.kind === "close") this.freeze.of(message.tick, this.store).takeClose(message);
    else if (message.kind === "still") this.freeze.take(message);
    else {
      this.dilation = message.dilation;
      this.ticks.observe(message.tick, performance.now());
      const jumped = this.clock.observe(message.tick, message.dilation);
      this.store.take(message, this.clock.tick, jumped);
      // With every frame, so that the card always agrees with the colours.
      if (this.selected !== null && this.freeze.store === null) this.drawCard();
    }
  }

  private onText(text: string): void {
    const message = readView(text);
    if (message === null) this.faults++;
    else if (message !== "unknown") this.receive(message);
  }

  private receive(message: ViewMessage): void {
    switch (message.type) {
      case "world":
        return this.begin(message);
      case "refused":
        this.connection.stop();
        return this.token.ask(message.why);
      case "regions":
        return this.regions.take(message);
      case "status":
        return this.panel.takeStatus(message.status, performance.now());
      case "picked":
        return this.picked(message);
      case "contacts":
        // Answers about the newest tick do not apply to a frozen picture.
        if (message.id !== this.selected || !this.freeze.shows(message.tick)) return;
        this.card.takeContacts(message);
        return this.view.selection.take(message, this.shown, this.view.forms);
      case "findings":
        return this.takeFindings(message);
      case "held":
        return this.freeze.receiveHeld(message.tick, message.error);
      case "demo":
        return this.demo.take(message);
      case "replay":
        return this.replay.take(message);
      case "controlled":
        if (message.error !== null) this.notice(`Could not ${message.do}: ${message.error}`);
    }
  }

  /** Handles a `world` message: the first, a different world, or the same after a reconnect. */
  private begin(world: World): void {
    const same = this.world?.name === world.name;
    this.world = world;
    if (!same) this.beginAnother(world);
    this.store.exact = world.poses;
    this.view.load(world);
    this.panel.canKill = world.controls.has("kill");
    this.demo.allow(world.controls);
    this.replay.load(world.recording);
    document.title = `${world.name} – Jostle`;
    button("walk").hidden = world.avatar === null;
    this.sceneKeys.load(world.keys);
    // After a reconnect the queries are repeated.
    if (this.selected !== null) this.connection.send({ type: "select", id: String(this.selected) });
    this.askClearance();
    this.askStatic();
  }

  private beginAnother(world: World): void {
    this.store.clear();
    this.clock.start(world.ticksPerSecond);
    this.ticks.clear();
    this.visibility.showAll();
    this.findings.clear();
    this.viewpoint.frame(world.extent);
    this.fitted = -1;
    this.setCamera("orbit");
    this.panel.clear(world);
    this.help.load(world.kind);
    if (world.kind === "shared") this.tour.begin();
  }

  private lineState(state: LineState): void {
    this.panel.line(state);
    if (state.kind === "open") {
      this.notice("");
      // The server sends them again.
      this.regions.clear();
    }
    if (state.kind !== "open") this.freeze.lose();
    if (state.kind === "waiting") {
      this.notice(`Connection lost, reconnecting in ${state.seconds} s…`, true);
    }
  }

  private listen(): void {
    for (const one of document.querySelectorAll<HTMLElement>("[data-camera]")) {
      one.addEventListener("click", () => this.setCamera(one.dataset.camera as CameraMode));
    }
    button("freeze").addEventListener("click", () => this.freeze.toggle());
    button("theme").addEventListener("click", () => this.theme.toggle());
    button("walk").addEventListener("click", () => {
      if (this.walk.wanted) this.walk.leave();
      else this.walk.start();
    });
    for (const id of ["layer-clearance", "clearance"]) {
      input(id).addEventListener("input", () => {
        this.askClearance();
        this.askStatic();
      });
    }
    input("layer-static").addEventListener("input", () => {
      if (!input("layer-static").checked) this.findings.clear();
      this.askStatic();
    });
    button("fit").addEventListener("click", () => this.fit());
    button("show-all-bar").addEventListener("click", () => this.visibility.showAll());
    window.addEventListener("keydown", (event) => this.key(event));
    const stage = part("stage");
    new ResizeObserver(() => {
      this.view.resize(stage.clientWidth, stage.clientHeight);
      this.viewpoint.resize(stage.clientWidth, stage.clientHeight);
      this.fitted = -1;
    }).observe(stage);
  }

  private key(event: KeyboardEvent): void {
    if (this.help.isOpen) return;
    if (event.key === "Escape") {
      if (this.tour.end()) return;
      if (this.selected !== null) this.select(null);
      else this.findings.look(null);
      return;
    }
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!plain || event.defaultPrevented || isTyping(event.target)) return;
    const modes: Record<string, CameraMode> = { 1: "orbit", 2: "fly", 3: "follow" };
    const mode = modes[event.key];
    if (mode) return this.setCamera(mode);
    const does = this.keyTable[event.key.toLowerCase()];
    if (does === undefined) return;
    does();
    // Otherwise the slash would be typed into the search field.
    event.preventDefault();
  }

  private readonly keyTable: Readonly<Record<string, () => void>> = {
    f: () => {
      if (!button("freeze").hidden) this.freeze.toggle();
    },
    "?": () => this.help.toggle(),
    "/": () => this.objects.focusSearch(),
    0: () => this.fit(),
    i: () => this.isolateSelected(),
    h: () => this.hideSelected(),
    u: () => this.visibility.showAll(),
    // For recordings see replay.ts.
    n: () => this.findings.step(1),
    p: () => this.findings.step(-1),
  };

  private nameOf(id: Id): string | null {
    return this.world?.names.get(String(id)) ?? null;
  }

  private fit(): void {
    if (this.world === null) return;
    this.setCamera("orbit");
    this.viewpoint.frame(this.view.bounds(this.shown, this.world.extent));
  }

  /** Fits the camera to the world until the user has moved it. */
  private refit(): void {
    if (this.world === null || this.shown.count === 0) return;
    const { version } = this.view.forms;
    if (this.fitted === version) return;
    this.fitted = version;
    const box = this.view.bounds(this.shown, this.world.extent);
    this.viewpoint.refit(box);
    if (this.world.kind === "scene" || this.world.kind === "check") this.view.ground(box);
  }

  private takeFindings(found: Findings): void {
    if (found.of === "static" && !input("layer-static").checked) return;
    this.unit = found.unit;
    this.findings.take(found);
  }

  /** Draws the contact of two parts, and moves the camera there. */
  private showFinding(finding: Finding | null): void {
    if (finding === null) return this.view.contact.clear();
    this.select(null);
    const { colour, label } = findingKind(finding.kind);
    const words = finding.distance > 0 ? distanceWords(finding.distance, this.unit) : label;
    this.view.contact.show(finding, colour, words);
    const { looks } = this.view.forms;
    const sizes = [finding.a, finding.b].map((ids) => {
      const box = boxAround(this.shown, looks, ids);
      return box ? diagonal(box) : this.viewpoint.shownAway;
    });
    this.panel.giveWay();
    const [one, other] = finding.points;
    const middle = one.map((part, axis) => (part + other[axis]!) / 2) as Vec3;
    this.setCamera("orbit");
    this.viewpoint.flyTo(middle, Math.max(Math.min(...sizes) * 0.6, finding.distance * 2));
  }

  private askStatic(): void {
    if (!input("layer-static").checked || this.world?.kind === "check") return;
    const near = input("layer-clearance").checked;
    this.connection.send({ type: "static", clearance: near ? Number(input("clearance").value) : null });
  }

  private selectFromList(id: Id): void {
    this.select(id);
    const box = boxAround(this.shown, this.view.forms.looks, [id]);
    if (box === null || this.viewpoint.mode === "follow") return;
    this.panel.giveWay();
    const middle = box[0].map((low, axis) => (low + box[1][axis]!) / 2) as Vec3;
    this.setCamera("orbit");
    this.viewpoint.flyTo(middle, diagonal(box));
  }

  private isolateSelected(): void {
    const { current } = this.findings;
    if (current !== null) this.visibility.isolate([...current.a, ...current.b]);
    else if (this.selected !== null) this.visibility.isolate([this.selected]);
    else if (this.visibility.only !== null) this.visibility.showAll();
    else this.notice("Select an object first, then it can be isolated.");
  }

  private hideSelected(): void {
    if (this.selected === null) return this.notice("Select an object first, then it can be hidden.");
    this.visibility.toggle(this.selected);
    this.select(null);
  }

  private visibilityChanged(): void {
    this.objects.draw(true);
    button("show-all-bar").hidden = !this.visibility.isPartial;
  }

  private setCamera(mode: CameraMode): void {
    if (mode === "follow" && this.walk.avatar === null && this.followed() === null) {
      this.notice("Select a body or walk in first, then it can be followed.");
      return;
    }
    this.viewpoint.setMode(mode);
    for (const one of document.querySelectorAll<HTMLElement>("[data-camera]")) {
      one.setAttribute("aria-pressed", String(one.dataset.camera === mode));
    }
    this.updateInputMode();
  }

  /** Keys and stick are active while walking or flying. */
  private updateInputMode(): void {
    const wanted = this.walk.wanted || this.viewpoint.mode === "fly";
    this.keys.wanted = wanted;
    this.stick.show(wanted);
  }

  private askClearance(): void {
    const wanted = input("layer-clearance").checked;
    const metres = Number(input("clearance").value);
    part("clearance-row").hidden = !wanted;
    part("legend-close").hidden = !wanted;
    write(part("clearance-value"), `${metres.toFixed(3)} m`);
    if (!wanted) this.shown.forgetClose();
    this.connection.send({ type: "clearance", metres: wanted ? metres : null });
  }

  private pick(x: number, y: number): void {
    if (!this.freeze.canAsk()) return;
    // A click passes through surroundings of which only edges are drawn, and through hidden
    // objects.
    const through = this.view.through(this.shown);
    const ray = this.view.ray(x, y, this.viewpoint.camera);
    this.connection.send({ type: "pick", ...ray, through, ...this.visibility.asked() });
  }

  private picked(picked: Picked): void {
    this.select(picked.id);
    this.card.takePicked(picked);
  }

  private select(id: Id | null): void {
    if (id === null) this.card.hide();
    if (id === this.selected) return;
    this.selected = id;
    if (id !== null) {
      this.findings.look(null);
      this.card.show(id);
      this.drawCard();
    }
    this.view.selection.clear();
    this.connection.send({ type: "select", id: id === null ? null : String(id) });
    if (this.viewpoint.mode === "follow" && this.followed() === null) this.setCamera("orbit");
  }

  private drawCard(): void {
    const { shown: store, regions } = this;
    const { kind } = this.world ?? { kind: "shared" as const };
    this.card.draw({ store, regions, looks: this.view.forms.looks, kind, own: this.walk.avatar });
  }

  private followed(): Vec3 | null {
    const id = this.walk.avatar ?? this.selected;
    const slot = id === null ? undefined : this.shown.slots.get(id);
    if (slot !== undefined) return this.shown.position(slot);
    return this.walk.pose(performance.now())?.position ?? null;
  }

  private direction(): Vec3 {
    const by = [this.keys.direction(), this.stick.direction(), gamepad()?.direction];
    const used = by.find((one) => one?.some((part) => part !== 0));
    return used === undefined ? [0, 0, 0] : [...used];
  }

  private input(): Vec3 {
    return this.viewpoint.level(this.direction());
  }

  private walkChanged(words: string): void {
    const { wanted, avatar } = this.walk;
    const control = button("walk");
    write(control, wanted ? "Leave" : "Walk in");
    control.setAttribute("aria-pressed", String(wanted));
    this.updateInputMode();
    if (avatar !== null) {
      this.setCamera("follow");
      canvas("picture").focus();
      this.notice(
        this.stick.isShown
          ? "Stick to move, arrows for up and down, drag to look around."
          : "W A S D to move, E and Q for up and down, drag to look around.",
      );
    } else if (!wanted && this.viewpoint.mode === "follow") this.setCamera("orbit");
    if (words) this.notice(words, wanted);
  }

  private noticeTimer: ReturnType<typeof setTimeout> | undefined;

  /** Shows a notice for a while, or until the next one. */
  private notice(words: string, stays = false): void {
    clearTimeout(this.noticeTimer);
    const place = part("notice");
    write(place, words);
    place.hidden = words === "";
    if (words && !stays) this.noticeTimer = setTimeout(() => (place.hidden = true), 6000);
  }

  private draw(now: number): void {
    requestAnimationFrame((next) => this.draw(next));
    const seconds = this.pace.frame(now);
    if (this.world !== null && this.freeze.store === null) this.show(now, seconds);
    this.sceneKeys.poll(now);
    const look = gamepad()?.look;
    if (look) this.viewpoint.look(-look[0] * seconds * STICK_TURN, look[1] * seconds * STICK_TURN);
    this.viewpoint.update(seconds);
    this.view.draw(this.shown, this.regions, this.viewpoint.camera, {
      regions: input("layer-regions").checked && this.world?.kind === "shared",
      marks: input("layer-marks").checked,
      auras: input("layer-auras").checked,
      selected: this.selected,
      own: this.walk.avatar,
      hidden: this.visibility.hidden,
      only: this.visibility.only,
      tints: this.findings.tints,
      ghosts: this.findings.current !== null,
      parts: this.world?.kind === "scene" || this.world?.kind === "check",
    });
  }

  /** Updates the poses of all bodies. */
  private show(now: number, seconds: number): void {
    const { recording } = this.world!;
    if (recording === null) this.clock.advance(seconds, 1);
    else if (this.replay.state.playing) this.clock.advance(seconds, this.replay.state.factor);
    else this.clock.stand();
    this.store.show(this.clock.tick, this.clock.ticksPerSecond);
    // The user's avatar is predicted by the server's client state machine.
    const own = this.walk.pose(now);
    const slot = own && this.walk.avatar !== null ? this.store.slots.get(this.walk.avatar) : undefined;
    if (own && slot !== undefined) {
      this.store.poses.set([...own.position, ...own.rotation], slot * POSE_VALUES);
    }
  }

  private drawPanel(): void {
    if (this.pace.fps > 0 && document.visibilityState === "visible") this.view.adapt(this.pace.fps);
    const now = performance.now();
    this.refit();
    this.drawCard();
    this.objects.draw();
    const glance = {
      objects: this.shown.count,
      touching: this.shown.touchingPairs,
      fps: this.pace.fps,
      dilation: this.dilation,
      bytesPerSecond: this.pace.rate(this.received, now),
      faults: this.faults,
      tickRate: this.ticks.rate(now),
      still: this.ticks.still(now),
    };
    this.panel.draw(glance, now);
  }
}

export type { Page };

showOutside(new Page());
