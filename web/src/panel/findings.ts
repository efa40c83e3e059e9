// Findings of a check, or contacts among immovable objects: a list with filters by kind and name,
// and a card for the current one, which the caller draws.
import { findingKind, PART_A, PART_B, rgb } from "../colours";
import { button, input, make, part, write } from "../dom";
import type { Id } from "../ids";
import type { Finding, Findings } from "../protocol/messages";
import { distanceWords, whole } from "./text";

type Rgb = readonly [number, number, number];

/** Rows in the list, at most. */
const ROWS_MAX = 400;

export interface FindingsUser {
  name(id: Id): string;
  /** Shows another finding, or none. */
  show(finding: Finding | null): void;
}

export class FindingList {
  /** The current finding. */
  current: Finding | null = null;
  /** Colours of the parts of findings. */
  tints: Map<Id, Rgb> = new Map();
  private found: Findings | null = null;
  private rows: Finding[] = [];
  private readonly off = new Set<string>();

  constructor(private readonly user: FindingsUser) {
    input("finding-search").addEventListener("input", () => this.write());
    button("finding-next").addEventListener("click", () => this.step(1));
    button("finding-before").addEventListener("click", () => this.step(-1));
    button("finding-close").addEventListener("click", () => this.look(null));
  }

  /** Listed findings, after filters. */
  get count(): number {
    return this.rows.length;
  }

  get isShown(): boolean {
    return this.found !== null;
  }

  take(found: Findings): void {
    this.found = found;
    this.off.clear();
    input("finding-search").value = "";
    write(part("findings-title"), found.of === "check" ? "Findings" : "Static contacts");
    part("findings").hidden = false;
    this.writeKinds();
    this.write();
    this.look(null);
  }

  clear(): void {
    this.found = null;
    this.rows = [];
    part("findings").hidden = true;
    this.look(null);
  }

  /** Goes to the next or previous finding; to the first one without a current one. */
  step(by: number): void {
    if (this.rows.length === 0) return;
    const at = this.current === null ? -1 : this.rows.indexOf(this.current);
    const next = at < 0 ? (by > 0 ? 0 : this.rows.length - 1) : at + by;
    this.look(this.rows[(next + this.rows.length) % this.rows.length]!);
  }

  look(finding: Finding | null): void {
    this.current = finding;
    this.tint();
    const rows = part("finding-list").children;
    for (let index = 0; index < rows.length; index++) {
      const chosen = this.rows[index] === finding && finding !== null;
      rows[index]!.classList.toggle("selected", chosen);
      rows[index]!.firstElementChild?.setAttribute("aria-pressed", String(chosen));
      if (chosen) rows[index]!.scrollIntoView({ block: "nearest" });
    }
    this.writeCard();
    this.user.show(finding);
  }

  private parts(finding: Finding): [string, string] {
    return [this.user.name(finding.a[0]!), this.user.name(finding.b[0]!)];
  }

  private unit(): string {
    return this.found?.unit ?? "";
  }

  private tint(): void {
    this.tints = new Map();
    const paint = (ids: Id[], colour: string) => {
      for (const id of ids) if (!this.tints.has(id)) this.tints.set(id, rgb(colour));
    };
    if (this.current !== null) {
      paint(this.current.a, PART_A);
      paint(this.current.b, PART_B);
      return;
    }
    // The first finding of a part is its most severe one.
    for (const finding of this.rows) {
      const { colour } = findingKind(finding.kind);
      paint(finding.a, colour);
      paint(finding.b, colour);
    }
  }

  private writeKinds(): void {
    const counts = new Map<string, number>();
    for (const { kind } of this.found?.findings ?? []) {
      const { label } = findingKind(kind);
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    const chips = [...counts].map(([label, count]) => {
      const chip = make("button", "chip");
      chip.setAttribute("type", "button");
      chip.setAttribute("aria-pressed", "true");
      chip.append(dot(this.kindOf(label)), `${label} ${whole(count)}`);
      chip.addEventListener("click", () => {
        const on = this.off.delete(label);
        if (!on) this.off.add(label);
        chip.setAttribute("aria-pressed", String(on));
        this.write();
      });
      return chip;
    });
    part("finding-kinds").replaceChildren(...(chips.length > 1 ? chips : []));
  }

  private kindOf(label: string): string {
    const { findings } = this.found!;
    return findings.find(({ kind }) => findingKind(kind).label === label)?.kind ?? label;
  }

  private write(): void {
    const found = this.found;
    if (found === null) return;
    const search = input("finding-search").value.trim().toLowerCase();
    this.rows = found.findings.filter((finding) => {
      if (this.off.has(findingKind(finding.kind).label)) return false;
      return !search || this.parts(finding).some((name) => name.toLowerCase().includes(search));
    });
    const shown = this.rows.slice(0, ROWS_MAX).map((finding) => this.row(finding));
    part("finding-list").replaceChildren(...shown);
    write(part("finding-more"), this.moreWords(found, shown.length));
    write(part("finding-count"), whole(found.findings.length));
    part("finding-search").hidden = found.findings.length === 0;
    if (this.current !== null && !this.rows.includes(this.current)) this.look(null);
    else this.tint();
  }

  private moreWords(found: Findings, shown: number): string {
    const near = found.clearance === null ? "" : ` or is closer than ${distanceWords(found.clearance, found.unit)}`;
    if (found.findings.length === 0) return `No pair touches${near}.`;
    const cut = found.complete ? "" : "There are more findings than can be listed.";
    if (this.rows.length === 0) return "No finding matches these filters.";
    if (this.rows.length <= shown) return cut;
    return `and ${whole(this.rows.length - shown)} more: filter them. ${cut}`.trimEnd();
  }

  private row(finding: Finding): HTMLElement {
    const [a, b] = this.parts(finding);
    const { label, colour } = findingKind(finding.kind);
    const row = make("li");
    const press = make("button", "finding");
    press.setAttribute("type", "button");
    press.setAttribute("aria-pressed", "false");
    const head = make("span", "finding-head");
    const kind = make("span", "finding-kind", label);
    kind.style.color = `color-mix(in srgb, ${colour} 78%, var(--ink))`;
    head.append(dot(finding.kind), kind);
    if (finding.distance > 0) {
      head.append(make("span", "finding-distance", distanceWords(finding.distance, this.unit())));
    }
    press.append(head, make("span", "finding-name", a), make("span", "finding-name", b));
    press.title = `${label}: ${a} and ${b}`;
    press.addEventListener("click", () => this.look(this.current === finding ? null : finding));
    row.append(press);
    return row;
  }

  private writeCard(): void {
    const { current } = this;
    part("finding").hidden = current === null;
    if (current === null) return;
    const [a, b] = this.parts(current);
    const { label } = findingKind(current.kind);
    write(part("finding-title"), kindSentence(current.kind, label));
    write(part("finding-place"), `${this.rows.indexOf(current) + 1} of ${this.rows.length}`);
    write(part("finding-a"), a);
    write(part("finding-b"), b);
    const facts: string[] = [];
    if (current.distance > 0) facts.push(`${distanceWords(current.distance, this.unit())} apart`);
    const { clearance } = this.found!;
    if (clearance !== null && current.distance > 0) {
      facts.push(`clearance ${distanceWords(clearance, this.unit())}`);
    }
    if (current.distance === 0) facts.push(`at ${placeWords(current.points[0], this.unit())}`);
    write(part("finding-facts"), facts.join(" · "));
  }
}

function kindSentence(kind: string, label: string): string {
  if (kind === "a_inside_b") return "first inside second";
  if (kind === "b_inside_a") return "second inside first";
  return label;
}

/** Positions are in metres, whatever the unit of distances; or in a file's unknown unit. */
function placeWords(place: readonly number[], unit: string): string {
  const known = unit !== "" && unit !== "units";
  return place.map((part) => String(+part.toPrecision(4))).join(", ") + (known ? " m" : "");
}

function dot(kind: string): HTMLElement {
  const made = make("i", "dot");
  made.style.background = findingKind(kind).colour;
  return made;
}
