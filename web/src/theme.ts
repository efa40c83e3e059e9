// Light or dark: the system's preference, until the user chooses. The choice is stored.

export type Theme = "light" | "dark";

/** Colours of the scene that go with the page's. */
export interface Palette {
  background: string;
  floor: string;
  grid: string;
  wall: string;
  aura: string;
}

const PALETTES: Record<Theme, Palette> = {
  light: {
    background: "#eef1f4",
    floor: "#e3e8ed",
    grid: "#b7c4d0",
    wall: "#b4bfca",
    aura: "#5b6b7c",
  },
  dark: {
    background: "#14181d",
    floor: "#1b2128",
    grid: "#35414d",
    wall: "#414d59",
    aura: "#93a4b5",
  },
};

const KEPT = "jostle-theme";

export class ThemeSwitch {
  private readonly system = window.matchMedia("(prefers-color-scheme: dark)");
  private chosen: Theme | null;

  constructor(private readonly changed: (palette: Palette, theme: Theme) => void) {
    const kept = keep.get(KEPT);
    this.chosen = kept === "light" || kept === "dark" ? kept : null;
    this.system.addEventListener("change", () => this.apply());
  }

  get theme(): Theme {
    return this.chosen ?? (this.system.matches ? "dark" : "light");
  }

  toggle(): void {
    this.chosen = this.theme === "dark" ? "light" : "dark";
    keep.set(KEPT, this.chosen);
    this.apply();
  }

  apply(): void {
    document.documentElement.dataset.theme = this.theme;
    this.changed(PALETTES[this.theme], this.theme);
  }
}

/** Storage may be forbidden; then choices last as long as the page. */
export const keep = {
  get(key: string): string | null {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set(key: string, value: string): void {
    try {
      localStorage.setItem(key, value);
    } catch {
      // Not available.
    }
  },
};
