/**
 * Keeps the status of a payment up to date and, on the return page, asks the service for the credit.
 *
 * All addresses are relative, so the pages also work behind a proxy that puts a folder in front of them. The key is sent
 * in a header and, only when asked for, kept in this tab's session storage; it never stands in an address.
 */
import { type Intent, problemOf, type View, viewOf } from "./status.ts";

const EVERY_MS = 1000;
const KEPT = "svcnb.api-key";

const status = document.querySelector<HTMLElement>("[data-status]");
if (status) void follow(status);

async function follow(place: HTMLElement): Promise<void> {
  const atReturn = document.querySelector("[data-confirm]") !== null;
  const root = atReturn ? "." : "..";
  const { intent = "", secret = "", key = "" } = place.dataset;
  const form = document.querySelector<HTMLFormElement>("form[data-confirm]");
  let asked = false;
  let offered = false;
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    const input = form.querySelector<HTMLInputElement>("input[type=password]");
    const keep = form.querySelector<HTMLInputElement>("[data-keep]");
    if (!input?.value.trim()) return;
    if (keep?.checked) sessionStorage.setItem(KEPT, input.value.trim());
    void credit(input.value.trim(), form, intent);
  });
  while (true) {
    const view = document.visibilityState === "visible" ? await ask(root, intent, secret, key) : null;
    if (view) {
      show(place, view);
      form?.toggleAttribute("hidden", view.state !== "succeeded");
      document.querySelector("[data-done]")?.toggleAttribute("hidden", view.state !== "credited");
      if (view.state === "credited") problem("");
      const kept = sessionStorage.getItem(KEPT);
      if (form && view.state === "succeeded" && !offered) {
        offered = true;
        form.querySelector<HTMLInputElement>("input[type=password]")?.focus();
      }
      if (form && kept && view.state === "succeeded" && !asked) {
        asked = true;
        await credit(kept, form, intent);
        continue;
      }
      if (view.settled) return;
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

async function ask(root: string, intent: string, secret: string, key: string): Promise<View | null> {
  const query = new URLSearchParams({ client_secret: secret });
  try {
    const answer = await fetch(`${root}/v1/payment_intents/${encodeURIComponent(intent)}?${query}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    return answer.ok ? viewOf(await answer.json() as Intent) : null;
  } catch {
    return null; // the emulator is gone or restarting: the next turn asks again
  }
}

function show(place: HTMLElement, view: View): void {
  if (place.dataset.state === view.state && place.textContent === view.message) return; // said already
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
    problem("The emulator cannot be reached. Is it still running?");
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
