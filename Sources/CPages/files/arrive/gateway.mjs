// Asks the gateway: the same requests and answers as over TCP, and what became of an alarm.

const path = '/v1/gateway/arrive';

/** Why there is no answer: busy, offline, noGateway. */
export class GatewayFault extends Error {
  constructor(kind) {
    super(kind);
    this.kind = kind;
  }
}

async function send(url, body) {
  let answer;
  try {
    answer = await fetch(url, body === undefined ? { cache: 'no-store' } : {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), cache: 'no-store',
    });
  } catch {
    throw new GatewayFault('offline');
  }
  if (answer.ok) return answer.json();
  throw new GatewayFault([401, 403, 404, 405, 409].includes(answer.status) ? 'noGateway' : 'busy');
}

export const cities = async () => (await send(path)).cities;

/** The answer to a request, in the trip that the first answer began. */
export const ask = (text, trip) => send(path, trip ? { text, trip } : { text });

/** Says what became of an alarm, again until it is kept: it is stored once, however often it is said. */
export async function tell(trip, alarm, state, wait = (ms) => new Promise((done) => { setTimeout(done, ms); })) {
  for (let pause = 1_000; ; pause = Math.min(pause * 2, 30_000)) {
    try {
      return await send(`${path}/alarms`, { trip, alarm, state });
    } catch (fault) {
      if (fault.kind === 'noGateway') return null;
      await wait(pause);
    }
  }
}
