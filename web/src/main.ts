// The page. What comes in over the line goes into the store, what the store has is drawn, what
// people do goes back over the line: this file connects the parts and decides nothing else.
import "./style.css";
import "./steer.css";
import { Viewpoint, type CameraMode } from "./camera";
import { Card } from "./card";
import { button, canvas, input, part, write } from "./dom";
import type { Id } from "./ids";
import { Line, type LineState } from "./line";
import { showOutside } from "./outside";
import { DemoControls } from "./panel/demo";
import { Panel } from "./panel/panel";
import { Pace } from "./pace";
import { decodeBinary } from "./protocol/frame";
import { readView, type Picked, type Vec3, type ViewSays, type World } from "./protocol/words";
import { ReplayBar } from "./replay";
import { View } from "./scene/view";
import { ThemeSwitch } from "./theme";
import { Token } from "./token";
import { Tour } from "./tour";
import { Freeze } from "./freeze";
import { gamepad, isTyping, Keys } from "./walk/keys";
import { SceneKeys } from "./walk/sensors";
import { Stick } from "./walk/stick";
import { Walk } from "./walk/walk";
import { Clock } from "./world/clock";
import { RegionMap } from "./world/regions";
import { POSE_VALUES, Store } from "./world/store";

/** Parts that are read, not watched, are written four times a second. */
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
  /** Messages that were none. */
  faults = 0;
  readonly freeze: Freeze;
  private readonly keys: Keys;
  private readonly stick: Stick;
  private readonly sceneKeys: SceneKeys;
  private readonly token = new Token(() => this.line.start());
  private readonly line: Line;
  private readonly panel: Panel;
  private readonly demo: DemoControls;
  private readonly replay: ReplayBar;
  private readonly card = new Card(() => this.select(null));
  private readonly theme = new ThemeSwitch((palette) => this.view.paint(palette));
  private readonly tour = new Tour();
  private dilation = 1;

  constructor() {
    const control = (order: object) => this.line.say({ type: "control", ...order });
    this.panel = new Panel(this.regions, (node) => control({ do: "kill", node }));
    this.demo = new DemoControls(control);
    this.replay = new ReplayBar(control);
    this.keys = new Keys(() => this.walk.steer());
    this.stick = new Stick(() => this.walk.steer());
    this.sceneKeys = new SceneKeys(control);
    this.freeze = new Freeze({
      say: (asks) => this.line.say(asks),
      isOpen: () => this.line.isOpen,
      still: () => this.store.still(),
      notice: (words) => this.notice(words),
    });
    this.walk = new Walk({
      token: () => this.token.value,
      wish: () => this.wish(),
      changed: (words) => this.walkChanged(words),
    });
    this.viewpoint = new Viewpoint(canvas("picture"), {
      followed: () => this.followed(),
      keys: () => (this.walk.wanted ? [0, 0, 0] : this.direction()),
      picked: (x, y) => this.pick(x, y),
    });
    this.line = new Line("view", {
      hello: () => ({ type: "hello", ...(this.token.value ? { token: this.token.value } : {}) }),
      text: (message) => this.hearText(message),
      bytes: (message) => this.hearBytes(message),
      state: (state) => this.lineState(state),
    });
    this.listen();
    this.theme.apply();
    this.line.start();
    setInterval(() => this.drawPanel(), PANEL_MS);
    requestAnimationFrame((now) => this.draw(now));
  }

  /** What is drawn: the world as it is, or as it was when it was frozen. */
  get shown(): Store {
    return this.freeze.store ?? this.store;
  }

  get received(): number {
    return this.line.received;
  }

  private hearBytes(bytes: ArrayBuffer): void {
    const message = decodeBinary(bytes);
    if (message === null || this.world === null) this.faults++;
    else if (message.kind === "close") this.freeze.of(message.tick, this.store).takeClose(message);
    else if (message.kind === "still") this.freeze.take(message);
    else {
      this.dilation = message.dilation;
      const jumped = this.clock.heard(message.tick, message.dilation);
      this.store.take(message, this.clock.tick, jumped);
    }
  }

  private hearText(text: string): void {
    const said = readView(text);
    if (said === null) this.faults++;
    else if (said !== "unknown") this.hear(said);
  }

  private hear(said: ViewSays): void {
    switch (said.type) {
      case "world":
        return this.begin(said);
      case "refused":
        this.line.stop();
        return this.token.ask(said.why);
      case "regions":
        return this.regions.take(said);
      case "status":
        return this.panel.takeStatus(said.status, performance.now());
      case "picked":
        return this.picked(said);
      case "contacts":
        // What is told of the newest world is not about a picture that is frozen.
        if (said.id !== this.selected || !this.freeze.shows(said.tick)) return;
        this.card.takeContacts(said);
        return this.view.selection.take(said, this.shown, this.view.forms);
      case "held":
        return this.freeze.hear(said.tick, said.error);
      case "demo":
        return this.demo.take(said);
      case "replay":
        return this.replay.take(said);
      case "controlled":
        if (said.error !== null) this.notice(`Could not ${said.do}: ${said.error}`);
    }
  }

  /** A world: the first, another one, or the same again after the line broke. */
  private begin(world: World): void {
    const same = this.world?.name === world.name;
    this.world = world;
    if (!same) this.store.clear();
    if (!same) this.clock.start(world.ticksPerSecond);
    this.view.load(world);
    if (!same) this.viewpoint.frame(world.extent);
    if (!same) this.setCamera("orbit");
    if (!same) this.panel.clear(world.name);
    this.panel.canKill = world.controls.has("kill");
    this.demo.allow(world.controls);
    this.replay.load(world.recording);
    document.title = `${world.name} – Jostle`;
    button("walk").hidden = world.avatar === null;
    this.sceneKeys.load(world.keys);
    // Who comes back asks again for what it had asked for.
    if (this.selected !== null) this.line.say({ type: "select", id: String(this.selected) });
    this.askClearance();
  }

  private lineState(state: LineState): void {
    this.panel.line(state);
    if (state.kind === "open") {
      this.notice("");
      // Whoever answers now tells them anew.
      this.regions.clear();
    }
    if (state.kind !== "open") this.freeze.lose();
    if (state.kind === "waiting") {
      this.notice(`The line to the world broke. Trying again in ${state.seconds} s…`, true);
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
      input(id).addEventListener("input", () => this.askClearance());
    }
    window.addEventListener("keydown", (event) => this.key(event));
    const stage = part("stage");
    new ResizeObserver(() => {
      this.view.resize(stage.clientWidth, stage.clientHeight);
      this.viewpoint.resize(stage.clientWidth, stage.clientHeight);
    }).observe(stage);
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      if (!this.tour.end()) this.select(null);
      return;
    }
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!plain || event.defaultPrevented || isTyping(event.target)) return;
    const modes: Record<string, CameraMode> = { 1: "orbit", 2: "fly", 3: "follow" };
    const mode = modes[event.key];
    if (mode) this.setCamera(mode);
    if (event.key.toLowerCase() === "f") this.freeze.toggle();
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
    this.wantSteering();
  }

  /** Keys and stick steer while somebody walks or flies. */
  private wantSteering(): void {
    const wanted = this.walk.wanted || this.viewpoint.mode === "fly";
    this.keys.wanted = wanted;
    this.stick.show(wanted);
  }

  private askClearance(): void {
    const wanted = input("layer-clearance").checked;
    const metres = Number(input("clearance").value);
    part("clearance-row").hidden = !wanted;
    part("legend-close").hidden = !wanted;
    write(part("clearance-value"), `${metres.toFixed(2)} m`);
    if (!wanted) this.shown.forgetClose();
    this.line.say({ type: "clearance", metres: wanted ? metres : null });
  }

  private pick(x: number, y: number): void {
    if (!this.freeze.canAsk()) return;
    // What only edges are drawn of does not stop a click.
    const through = this.view.forms.surrounding();
    this.line.say({ type: "pick", ...this.view.ray(x, y, this.viewpoint.camera), through });
  }

  private picked(picked: Picked): void {
    this.select(picked.id);
    if (picked.id === null) return;
    this.card.show(picked, this.world?.names.get(String(picked.id)) ?? null);
    this.card.draw(this.shown, this.regions);
  }

  private select(id: Id | null): void {
    if (id === null) this.card.hide();
    if (id === this.selected) return;
    this.selected = id;
    this.view.selection.clear();
    this.line.say({ type: "select", id: id === null ? null : String(id) });
    if (this.viewpoint.mode === "follow" && this.followed() === null) this.setCamera("orbit");
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

  private wish(): Vec3 {
    return this.viewpoint.level(this.direction());
  }

  private walkChanged(words: string): void {
    const { wanted, avatar } = this.walk;
    const control = button("walk");
    write(control, wanted ? "Leave" : "Walk in");
    control.setAttribute("aria-pressed", String(wanted));
    this.wantSteering();
    if (avatar !== null) {
      this.setCamera("follow");
      canvas("picture").focus();
      this.notice(
        this.stick.isShown
          ? "The stick goes, the arrows lift and lower, drag to look around."
          : "W A S D to go, E and Q for up and down, drag to look around.",
      );
    } else if (!wanted && this.viewpoint.mode === "follow") this.setCamera("orbit");
    if (words) this.notice(words, wanted);
  }

  private noticeTimer: ReturnType<typeof setTimeout> | undefined;

  /** Says something for a while, or until something else is said. */
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
    // With every picture, so that it never says another thing than the colours.
    if (this.selected !== null) this.card.draw(this.shown, this.regions);
    this.view.draw(this.shown, this.regions, this.viewpoint.camera, {
      regions: input("layer-regions").checked,
      marks: input("layer-marks").checked,
      auras: input("layer-auras").checked,
      selected: this.selected,
      own: this.walk.avatar,
    });
  }

  /** Puts all bodies where they are now. */
  private show(now: number, seconds: number): void {
    const { recording } = this.world!;
    if (recording === null) this.clock.advance(seconds, 1);
    else if (this.replay.state.playing) this.clock.advance(seconds, this.replay.state.factor);
    else this.clock.stand();
    this.store.show(this.clock.tick, this.clock.ticksPerSecond);
    // One's own avatar goes ahead, as the door says that it will be.
    const own = this.walk.pose(now);
    const slot = own && this.walk.avatar !== null ? this.store.slots.get(this.walk.avatar) : undefined;
    if (own && slot !== undefined) {
      this.store.poses.set([...own.position, ...own.rotation], slot * POSE_VALUES);
    }
  }

  private drawPanel(): void {
    if (this.pace.fps > 0 && document.visibilityState === "visible") this.view.adapt(this.pace.fps);
    this.panel.draw({
      objects: this.shown.count,
      touching: this.shown.touchingPairs,
      fps: this.pace.fps,
      dilation: this.dilation,
      bytesPerSecond: this.pace.rate(this.received, performance.now()),
      faults: this.faults,
    });
  }
}

export type { Page };

showOutside(new Page());
