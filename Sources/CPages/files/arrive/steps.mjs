// The five steps of a trip, as values: city, line, from, to, timer. Choices stay where one goes back, as long as they fit.

export const order = ['city', 'line', 'from', 'to', 'timer'];

export const empty = { step: 'city', cities: [], city: null, lines: [], line: null, stations: [], from: null, to: null, alarm: null };

/** What there is to choose from at a step. */
export const choices = (trip) => ({ city: trip.cities, line: trip.lines, from: trip.stations, to: trip.stations })[trip.step] ?? [];

/** The trip with a choice at its step. What depended on another choice is forgotten. */
export function choose(trip, value) {
  if (!choices(trip).includes(value) || trip[trip.step] === value) return trip;
  const made = { ...trip, [trip.step]: value, alarm: null };
  if (trip.step === 'city') return { ...made, lines: [], line: null, stations: [], from: null, to: null };
  if (trip.step === 'line') return { ...made, stations: [], from: null, to: null };
  return made;
}

/** The request that has to be answered before the next step; null where nothing has. */
export function request(trip) {
  if (trip.step === 'city' && trip.city) return `1@${trip.city};`;
  if (trip.step === 'line' && trip.line) return `2@${trip.city}@${trip.line};`;
  if (trip.step === 'to' && trip.from && trip.to) return `3@${trip.city}@${trip.line}@${trip.from}@${trip.to};`;
  return null;
}

/** The fields of an answer, or what it refuses with. */
export function read(text) {
  const fields = text.split('@');
  const code = Number(fields[0]);
  if (code === 3) return { code, station: fields[1], minutes: Number(fields[2]) };
  if (code === 9) return { code, fault: fields[1] };
  return { code, names: fields.slice(1).filter(Boolean) };
}

/** One step on, with the answer that it took. `near`: the goal is too close, and the trip stays where it was. */
export function next(trip, answer) {
  if (trip.step === 'city' && answer?.code === 1) return { ...trip, step: 'line', lines: answer.names };
  if (trip.step === 'line' && answer?.code === 2) return { ...trip, step: 'from', stations: answer.names };
  if (trip.step === 'from' && trip.from) return { ...trip, step: 'to' };
  if (trip.step === 'to' && answer?.code === 3) return { ...trip, step: 'timer', alarm: { station: answer.station, minutes: answer.minutes } };
  return trip;
}

/** One step back. */
export const back = (trip) => ({ ...trip, step: order[Math.max(0, order.indexOf(trip.step) - 1)] });

/** After an answer that the goal is near: stations are chosen anew, and those that were stay chosen. */
export const again = (trip) => ({ ...trip, step: 'from' });
