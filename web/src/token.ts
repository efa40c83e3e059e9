// The token of a world that requires one: from the URL (`?token=`), from this tab's storage, or
// from a form.
import { element, input, part, write } from "./dom";

const KEPT = "jostle-token";

export class Token {
  value: string | null;

  constructor(private readonly given: () => void) {
    const address = new URL(window.location.href);
    this.value = address.searchParams.get("token") ?? read();
    if (address.searchParams.has("token")) {
      // A token in the address bar would end up in bookmarks and screenshots.
      address.searchParams.delete("token");
      window.history.replaceState(null, "", address);
      this.store();
    }
    element("token", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.value = input("token-word").value || null;
      this.store();
      part("token").hidden = true;
      this.given();
    });
  }

  /** The server has rejected the token. */
  ask(why: string): void {
    write(part("token-why"), why);
    part("token").hidden = false;
    input("token-word").focus();
  }

  private store(): void {
    try {
      if (this.value !== null) sessionStorage.setItem(KEPT, this.value);
    } catch {
      // Not available.
    }
  }
}

function read(): string | null {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    return null;
  }
}
