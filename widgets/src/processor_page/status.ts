/** Text of a page about a payment. The functions have no side effects, so tests need no browser. */

/** Payment in the format of the processor's API. */
export interface Intent {
  status: "requires_payment_method" | "processing" | "succeeded" | "failed" | "canceled";
  amount_cents: number;
  credited: boolean;
  error: { code: string; message: string } | null;
}

export type State = "waiting" | "processing" | "succeeded" | "failed" | "canceled" | "credited";

export interface View {
  state: State;
  heading: string;
  message: string;
  /** Whether the status is final, so that the page sends no more requests. */
  settled: boolean;
}

export function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}

export function viewOf(intent: Intent): View {
  const amount = dollars(intent.amount_cents);
  if (intent.credited) {
    return {
      state: "credited",
      heading: "Credited",
      message: `${amount} was credited to the account.`,
      settled: true,
    };
  }
  switch (intent.status) {
    case "succeeded":
      return {
        state: "succeeded",
        heading: "Payment succeeded",
        message: "The processor has collected the payment.",
        settled: false,
      };
    case "failed":
      return {
        state: "failed",
        heading: "Payment failed",
        message: intent.error ? asSentence(intent.error.message) : "The payment failed. No money was deducted.",
        settled: false,
      };
    case "canceled":
      return {
        state: "canceled",
        heading: "Payment canceled",
        message: "The payment was canceled. No money was deducted.",
        settled: true,
      };
    case "processing":
      return {
        state: "processing",
        heading: "Payment is processing",
        message: "The processor is waiting for the confirmation of the payment.",
        settled: false,
      };
    case "requires_payment_method":
      return {
        state: "waiting",
        heading: "Not paid yet",
        message: "This payment has not been paid yet.",
        settled: false,
      };
  }
}

/** Returns a message of the API as a sentence: with a capital letter at the start and a full stop at the end. */
function asSentence(message: string): string {
  const text = /^[a-z]+ /.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message;
  return `${text.replace(/\.$/, "")}.`;
}

/** Returns the text of an error body, which is an object with message and fix, or a JSON string. */
export function problemOf(body: unknown, status: number): string {
  if (typeof body === "string" && body) return asSentence(body);
  if (body && typeof body === "object" && "message" in body && typeof body.message === "string") {
    const message = asSentence(body.message);
    return "fix" in body && typeof body.fix === "string" ? `${message} ${body.fix}` : message;
  }
  return `The service responded with status ${status}.`;
}
