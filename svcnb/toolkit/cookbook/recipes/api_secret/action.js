// Sends a request to a paid service, with an API key that only this action can decrypt.
// The service's address and the encrypted key are in SECRET, which is part of the source. The caller chooses the city.

async function main(params) {
  const city = params?.city;
  if (typeof city !== "string" || !/^[a-z]{1,30}$/.test(city)) {
    throw new Error("city: expected 1 to 30 lower-case letters.");
  }
  const key = await Svc.Actions.Decrypt({ pkpId: SECRET.wallet, ciphertext: SECRET.ciphertext });
  // A redirect would send the key to another host.
  const response = await fetch(`${SECRET.url}?city=${city}`, {
    headers: { authorization: `Bearer ${key}` },
    redirect: "error",
  });
  if (!response.ok) throw new Error(`The service returned status ${response.status}.`);
  const text = await response.text();
  if (text.length > 10000) throw new Error("The service returned more than 10,000 characters.");
  // Returns only a number, because the text of a response or an error could contain the key.
  const degrees = numberIn(text);
  if (typeof degrees !== "number" || !(Math.abs(degrees) < 1000)) throw new Error("The service did not return a temperature.");
  return { city, degrees };
}

function numberIn(text) {
  try {
    return JSON.parse(text).degrees;
  } catch {
    throw new Error("The service did not return JSON.");
  }
}
