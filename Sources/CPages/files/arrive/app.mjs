// The subway alarm: region, line, from, to, and a timer that rings two stops before one arrives.

import { fill, h, announce } from '../shared/dom.mjs';
import { keep, kept } from '../shared/words.mjs';
import * as bell from './bell.mjs';
import { GatewayFault, ask, cities, tell } from './gateway.mjs';
import * as steps from './steps.mjs';
import { strings } from './strings.mjs';
import * as timer from './timer.mjs';

const looks = ['auto', 'light', 'dark'];
const page = {
  language: kept('language') ?? (navigator.language.startsWith('ko') ? 'ko' : 'en'),
  look: kept('look') ?? 'auto',
  fault: null, isAsking: false, focus: false,
  trip: steps.empty, rider: null, alarm: null, end: 0, state: 'ready',
};
let clock = null;
let silence = () => {};
// What is told of an alarm is told in its order.
let telling = Promise.resolve();

function say(key, ...values) {
  const text = strings[key][page.language === 'ko' ? 0 : 1];
  return typeof text === 'function' ? text(...values) : text;
}

function button(label, onclick, attributes = {}) {
  return h('button', { type: 'button', onclick, ...attributes }, label);
}

function change(values) {
  Object.assign(page, values);
  draw();
}

function go(trip) {
  const isOther = trip.step !== page.trip.step;
  change({ trip, fault: null, focus: isOther });
  if (isOther) announce(say(trip.step === 'timer' ? 'step.timer' : `ask.${trip.step}`));
}

/** Asks what the step needs to know, and goes on. */
async function forward() {
  if (page.isAsking) return;
  const text = steps.request(page.trip);
  if (!text) return go(steps.next(page.trip, null));
  change({ isAsking: true, fault: null });
  try {
    const answer = await ask(text, page.rider);
    page.rider = answer.trip;
    const read = steps.read(answer.answer);
    if (read.code === 9) throw new GatewayFault(read.fault);
    if (read.code === 3) Object.assign(page, { alarm: answer.alarm, end: timer.endOf(Date.now(), answer.seconds), state: 'ready' });
    page.isAsking = false;
    if (read.code === 0) return near();
    go(steps.next(page.trip, read));
  } catch (fault) {
    change({ isAsking: false, fault: fault.kind ?? String(fault.message) });
  }
}

/** The goal is near: one may choose again, and what was chosen stays. */
function near() {
  const dialog = h('dialog', { 'aria-labelledby': 'near' },
    h('div', { class: 'sheet' }, h('h2', { id: 'near' }, say('near')), h('p', {}, say('nearHelp')),
      h('div', { class: 'go' }, button(say('again'), () => dialog.close(), { class: 'main', autofocus: true }))));
  dialog.addEventListener('close', () => {
    dialog.remove();
    go(steps.again(page.trip));
  });
  document.body.append(dialog);
  draw();
  dialog.showModal();
}

/** What happens to the timer, by the button, by its end, or by leaving. */
function happen(event) {
  const state = timer.after(page.state, event);
  if (state === page.state) return;
  const told = timer.told(state);
  if (told) {
    const { rider, alarm } = page;
    telling = telling.then(() => tell(rider, alarm, told));
  }
  if (event === 'start') {
    bell.unlock();
    silence = bell.ring((page.end - Date.now()) / 1_000, () => happen('end'));
  } else if (event === 'stop') {
    silence();
  } else if (event === 'leave') {
    return change({ state: 'ready', alarm: null, rider: null, fault: null, focus: true, trip: { ...steps.empty, cities: page.trip.cities } });
  }
  change({ state });
  if (event === 'end') announce(`${say('state.ringing')}. ${say('ended')}`);
  tick();
}

/** Shows each second, and sees the end where there is no sound. */
function tick() {
  clearTimeout(clock);
  if (page.state !== 'running') return;
  const now = Date.now();
  if (now >= page.end) return happen('end');
  show();
  clock = setTimeout(tick, timer.pause(page.end, now));
}

function show() {
  const node = document.getElementById('left');
  if (!node) return;
  const { minutes, seconds } = timer.parts(timer.left(page.end, Date.now()));
  node.textContent = ['ringing', 'over'].includes(page.state) ? say('ended') : say('left', minutes, seconds);
}

function top() {
  const look = looks[(looks.indexOf(page.look) + 1) % looks.length];
  return h('header', { class: 'top' }, h('p', {}, say('title')),
    h('div', {},
      button(say('language'), () => {
        const language = page.language === 'ko' ? 'en' : 'ko';
        keep('language', language);
        change({ language });
      }, { class: 'plain', lang: page.language === 'ko' ? 'en' : 'ko', id: 'language' }),
      button(say(`look.${page.look}`), () => {
        keep('look', look);
        change({ look });
      }, { class: 'plain', id: 'look' })));
}

function path() {
  const at = steps.order.indexOf(page.trip.step);
  return h('nav', { 'aria-label': say('steps') }, h('ol', { class: 'steps' }, steps.order.map((step, index) =>
    h('li', { class: index < at && 'done', 'aria-current': index === at && 'step' }, say(`step.${step}`)))));
}

function fault() {
  if (!page.fault) return null;
  const text = strings[page.fault] ? say(page.fault) : say('unknown', page.fault);
  return h('p', { class: 'fault', role: 'alert' }, text);
}

function question() {
  const { trip } = page;
  const form = h('form', {
    onsubmit: (event) => {
      event.preventDefault();
      forward();
    },
  },
  h('fieldset', {},
    h('legend', {}, h('h1', { tabindex: '-1' }, say(`ask.${trip.step}`))),
    h('div', { class: 'choices' }, steps.choices(trip).map((name) =>
      h('label', { class: 'choice' },
        h('input', {
          type: 'radio', name: 'choice', value: name, checked: trip[trip.step] === name, required: true,
          onchange: () => { page.trip = steps.choose(page.trip, name); },
        }), h('span', { lang: 'ko' }, name))))),
  h('div', { class: 'go' },
    trip.step !== 'city' && button(say('back'), () => go(steps.back(page.trip)), { id: 'back' }),
    h('button', { type: 'submit', class: 'main', id: 'next', disabled: page.isAsking }, say('next'))));
  return form;
}

function countdown() {
  const { trip, state } = page;
  const rows = [['step.line', `${trip.city} ${trip.line}`], ['step.from', trip.from], ['step.to', trip.to], ['rings', trip.alarm.station], ['duration', say('minutes', trip.alarm.minutes)]];
  return h('section', { class: 'trip-page' },
    h('h1', { tabindex: '-1', class: 'unseen' }, say('step.timer')),
    h('dl', { class: 'trip' }, rows.map(([key, value]) => [h('dt', {}, say(key)), h('dd', {}, value)])),
    h('div', { class: `timer ${state}` },
      h('p', { class: 'state', id: 'state' }, say(`state.${state}`)),
      h('p', { class: 'left', id: 'left', role: 'timer' }),
      h('p', {}, say('note'))),
    state === 'running' && h('p', {}, say('keepOpen')),
    h('div', { class: 'go' },
      state === 'ready' && button(say('back'), () => go(steps.back(page.trip)), { id: 'back' }),
      button(say(`button.${state}`), () => happen(timer.action(page.state)), { class: 'main', id: 'alarm', disabled: timer.action(state) === null })));
}

function draw() {
  document.documentElement.lang = page.language;
  document.documentElement.dataset.look = page.look;
  document.title = say('title');
  const focused = document.activeElement?.id;
  const body = page.trip.cities.length === 0
    ? page.fault && h('div', { class: 'go' }, button(say('retry'), begin, { class: 'main', id: 'retry' }))
    : page.trip.step === 'timer' ? countdown() : question();
  fill(document.getElementById('app'), top(), path(), h('main', {}, fault(), body));
  show();
  const chosen = document.querySelector('input:checked');
  chosen?.scrollIntoView({ block: 'nearest' });
  if (page.focus) document.querySelector('h1')?.focus();
  else if (focused) document.getElementById(focused)?.focus();
  page.focus = false;
}

async function begin() {
  try {
    change({ fault: null, trip: { ...page.trip, cities: await cities() } });
  } catch (problem) {
    change({ fault: problem.kind ?? String(problem.message) });
  }
}

draw();
begin();
