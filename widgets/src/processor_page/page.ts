/**
 * Script of the return page, which shows the current status of the payment and requests the credit from the service.
 *
 * All addresses are relative, so the pages also work behind a proxy that adds a folder to the path. The script sends
 * the key in a header, never in a URL. At the user's request, it stores the key in the session storage of this tab.
 */
import { type Intent, problemOf, type View, viewOf } from "./status.ts";

const EVERY_MS = 1000;
const KEPT = "svcnb.api-key";

const place = document.querySelector<HTMLElement>("[data-status]");
const form = document.querySelector<HTMLFormElement>("form[data-confirm]");
if (place && form) void follow(place, form);

async function follow(place: HTMLElement, form: HTMLFormElement): Promise<void> {
  document.querySelector("[data-script-off]")?.remove();
  const { intent = "", secret = "", key = "" } = place.dataset;
  const input = form.querySelector<HTMLInputElement>("input[type=password]");
  const keep = form.querySelector<HTMLInputElement>("[data-keep]");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = input?.value.trim();
    if (!typed) return;
    if (keep?.checked) sessionStorage.setItem(KEPT, typed);
    void credit(typed, form, intent);
  });
  let offered = false;
  while (true) {
    const view = document.visibilityState === "visible" ? await ask(intent, secret, key) : null;
    if (view) {
      show(place, view);
      form.hidden = view.state !== "succeeded";
      document.querySelector("[data-again]")?.toggleAttribute(
        "hidden",
        view.state !== "failed" && view.state !== "waiting",
      );
      document.querySelector("[data-done]")?.toggleAttribute("hidden", view.state !== "credited");
      if (view.state === "credited") problem("");
      if (view.settled) return;
      if (view.state === "succeeded" && !offered) {
        offered = true;
        input?.focus();
        const kept = sessionStorage.getItem(KEPT);
        if (kept) {
          await credit(kept, form, intent);
          continue;
        }
      }
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

async function ask(intent: string, secret: string, key: string): Promise<View | null> {
  const query = new URLSearchParams({ client_secret: secret });
  try {
    const answer = await fetch(`./v1/payment_intents/${encodeURIComponent(intent)}?${query}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    return answer.ok ? viewOf(await answer.json() as Intent) : null;
  } catch {
    return null; // the emulator has stopped or is restarting, so the next request tries again
  }
}

function show(place: HTMLElement, view: View): void {
  if (place.dataset.state === view.state && place.textContent === view.message) return; // already displayed
  place.dataset.state = view.state;
  place.textContent = view.message;
  const heading = document.querySelector("h1");
  if (heading) heading.textContent = view.heading;
  document.title = view.heading;
}

async function credit(key: string, form: HTMLFormElement, intent: string): Promise<void> {
  const button = form.querySelector("button");
  if (button) button.disabled = true;
  problem("");
  try {
    const headers = { "Content-Type": "application/json", "X-Api-Key": key };
    const body = JSON.stringify({ payment_intent_id: intent });
    const answer = await fetch("../core/v1/billing/confirm_payment", { method: "POST", headers, body });
    if (answer.ok) {
      await showBalance(headers);
      return;
    }
    if (answer.status === 401) sessionStorage.removeItem(KEPT);
    problem(problemOf(await answer.json().catch(() => null), answer.status));
  } catch {
    problem("Cannot connect to the emulator. Check that the emulator is running.");
  } finally {
    if (button) button.disabled = false;
  }
}

async function showBalance(headers: HeadersInit): Promise<void> {
  const answer = await fetch("../core/v1/billing/balance", { headers });
  const place = document.querySelector<HTMLElement>("[data-balance]");
  if (!answer.ok || !place) return;
  const { balance_display } = await answer.json() as { balance_display: string };
  place.textContent = `The account has ${balance_display}. `;
}

function problem(text: string): void {
  const place = document.querySelector<HTMLElement>("[data-problem]");
  if (!place) return;
  place.textContent = text;
  place.hidden = text === "";
}
