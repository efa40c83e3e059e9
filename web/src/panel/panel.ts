// The panel: key figures, chart, nodes and network, from the status and the picture. Each kind of
// world has its own parts; parts without data are hidden.
import { button, canvas, Facts, part, write } from "../dom";
import type { LineState } from "../connection";
import { fields, list, number, type Fields, type World, type WorldKind } from "../protocol/messages";
import type { RegionMap } from "../world/regions";
import { Chart } from "./chart";
import { NodeList } from "./nodes";
import { bytesPerSecond, milliseconds, UNKNOWN, whole } from "./text";

/** Figures from the picture itself, without the status. */
export interface Glance {
  objects: number;
  touching: number;
  fps: number;
  dilation: number;
  bytesPerSecond: number;
  faults: number;
  /** Ticks per second from frames; null if unknown. */
  tickRate: number | null;
  /** Milliseconds since the last tick. */
  still: number;
}

interface Traffic {
  at: number;
  nodes: number | null;
  clients: number | null;
}

/** Without a tick for this time, a world is not called live. */
const STALLED_MS = 2000;
/** An older status is stale. */
const STALE_MS = 3500;
const SECOND_MS = 1000;
/** In narrower windows the panel overlaps the picture: narrow.css. */
const WIDE_PIXELS = 900;

export class Panel {
  private readonly numbers = new Facts(part("numbers"));
  private readonly lines = new Facts(part("lines"));
  private readonly chart = new Chart(canvas("chart"), part("chart-legend"));
  private readonly nodes: NodeList;
  private traffic: Traffic | null = null;
  private status: Fields = {};
  private statusAt = -Infinity;
  private chartAt = -Infinity;
  private kind: WorldKind = "shared";
  private state: LineState = { kind: "connecting" };
  canKill = false;

  constructor(
    private readonly regions: RegionMap,
    kill: (node: number) => void,
  ) {
    this.nodes = new NodeList(part("nodes"), regions, kill);
    const toggle = button("panel-toggle");
    toggle.addEventListener("click", () => this.open(document.body.classList.contains("collapsed")));
    // On an upright tablet the panel starts closed.
    this.open(window.innerWidth >= WIDE_PIXELS);
  }

  /** Closes a panel that would hide the selected thing. */
  giveWay(): void {
    if (window.innerWidth < WIDE_PIXELS) this.open(false);
  }

  private open(open: boolean): void {
    document.body.classList.toggle("collapsed", !open);
    button("panel-toggle").setAttribute("aria-expanded", String(open));
  }

  /** Clipped seconds of the chart. */
  get clipped(): number {
    return this.chart.clipped;
  }

  clear({ name, kind }: World): void {
    this.kind = kind;
    document.body.dataset.kind = kind;
    write(part("world-name"), name);
    part("world-name").title = name;
    this.traffic = null;
    this.status = {};
    this.statusAt = -Infinity;
    this.numbers.clear();
    this.lines.clear();
    this.nodes.clear();
    this.chart.clear();
  }

  line(state: LineState): void {
    this.state = state;
  }

  takeStatus(status: Fields, now: number): void {
    this.status = status;
    this.statusAt = now;
    this.nodes.take(status);
    const stages = new Map<string, number>();
    for (const [name, value] of Object.entries(fields(status.stages))) {
      const time = number(value);
      if (time !== null) stages.set(name, Math.max(time, 0));
    }
    this.chart.push(stages.size > 0 && !this.isStale(now) ? stages : null);
    this.chartAt = now;
    this.takeTraffic(status, now);
    const both = (times: Fields) =>
      number(times.p50) === null
        ? UNKNOWN
        : `${milliseconds(number(times.p50))} · ${milliseconds(number(times.p99))}`;
    if (status.tick_ms !== undefined) this.lines.set("Tick p50 · p99", both(fields(status.tick_ms)));
    if (status.input_ms !== undefined) {
      this.lines.set("Input latency p50 · p99", both(fields(status.input_ms)));
    }
    const clients = number(status.clients);
    if (clients !== null) this.lines.set("Clients", whole(clients));
  }

  draw(glance: Glance, now: number): void {
    this.drawBadge(glance);
    // A second without a status is a gap, not a straight line.
    if (now - this.chartAt > 2 * SECOND_MS) {
      this.chart.push(null);
      this.chartAt += SECOND_MS;
    }
    this.drawNumbers(glance, now);
    const slow = glance.dilation > 1.05 ? `slowed ×${glance.dilation.toFixed(2)}` : "";
    write(part("chart-sum"), slow);
    if (this.kind === "shared") this.lines.set("This page", bytesPerSecond(glance.bytesPerSecond));
    if (glance.faults > 0) this.lines.set("Ignored messages", whole(glance.faults));
    const staged = this.kind === "shared" && this.status.stages !== undefined;
    part("chart-section").hidden = !staged;
    part("network-section").hidden = this.kind !== "shared" && glance.faults === 0;
    const known = list(this.status.groups).length > 0 || this.regions.all().length > 0;
    const nodes = known && this.kind === "shared";
    part("nodes-section").hidden = !nodes;
    if (nodes) this.nodes.draw(this.canKill);
  }

  /** Stale figures are not shown as current ones. */
  private isStale(now: number): boolean {
    const age = number(this.status.tick_age_ms) ?? 0;
    return now - this.statusAt > STALE_MS || age > STALLED_MS;
  }

  private drawNumbers(glance: Glance, now: number): void {
    const { status, kind } = this;
    this.numbers.set(kind === "check" ? "Parts" : "Objects", whole(glance.objects));
    if (kind === "check") return;
    this.numbers.set("Collisions", whole(glance.touching));
    const stale = this.isStale(now) || glance.still > STALLED_MS;
    if (kind === "shared") {
      const stages = Object.values(fields(status.stages)).map(number).filter((time) => time !== null);
      const step = stages.reduce((sum, time) => sum + time, 0);
      const pairs = number(status.pairs_tested);
      this.numbers.set("Pairs tested", pairs === null || stale ? UNKNOWN : whole(pairs));
      this.numbers.set("Step", stages.length === 0 || stale ? UNKNOWN : milliseconds(step));
    }
    const rate = glance.tickRate;
    this.numbers.set("Ticks/s", rate === null ? UNKNOWN : rate.toFixed(1));
    this.numbers.set("Frames/s", glance.fps.toFixed(0));
    part("numbers").classList.toggle("stale", stale && kind === "shared");
  }

  /** The badge: "live" only while there are ticks. */
  private drawBadge(glance: Glance): void {
    const badge = part("line");
    let [state, words] = [this.state.kind as string, ""];
    if (state === "open") [state, words] = this.openWords(glance);
    else words = { connecting: "connecting", waiting: "connection lost", stopped: "not connected" }[state]!;
    badge.dataset.state = state;
    write(badge, words);
  }

  private openWords(glance: Glance): [string, string] {
    if (this.kind === "recording" || this.kind === "check") return ["open", this.kind];
    if (glance.still > STALLED_MS) {
      return ["stalled", `stalled ${Math.floor(glance.still / SECOND_MS)} s`];
    }
    return ["open", this.kind === "scene" ? "scene" : "live"];
  }

  private takeTraffic(status: Fields, now: number): void {
    const bytes = (value: unknown) => {
      const sent = number(fields(value).sent_bytes);
      const received = number(fields(value).received_bytes);
      return sent === null || received === null ? null : sent + received;
    };
    const next: Traffic = { at: now, nodes: bytes(status.nodes), clients: bytes(status.edge) };
    const before = this.traffic;
    this.traffic = next;
    if (before === null || now <= before.at) return;
    const set = (name: string, newer: number | null, older: number | null) => {
      if (newer === null) return;
      const rate = older === null ? null : Math.max(0, ((newer - older) * 1000) / (now - before.at));
      this.lines.set(name, bytesPerSecond(rate));
    };
    set("Between nodes", next.nodes, before.nodes);
    set("Clients and pages", next.clients, before.clients);
  }
}
