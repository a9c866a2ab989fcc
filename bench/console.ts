import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { chromium, type Page } from 'playwright-core';
import { findChromium } from '../harness/programs.ts';
import { readConfig } from '../platform/config.ts';
import { createHttpServer } from '../platform/http/server.ts';
import { isRefusal } from '../platform/refusal.ts';
import { createApp } from '../services/app.ts';
import { createCore } from '../services/compose.ts';
import { addModerator } from '../services/moderation/staff/moderators.ts';
import type { Bench, BenchEnvironment } from './environment.ts';

const NOTES = 100;
const AIM_MS = 100;

// Runs in the page: measures from a key press to the frame that draws the next note.
const WATCH = `
  window.waits = [];
  let told = () => undefined;
  window.drawn = (count) => new Promise((resolve) => {
    told = () => waits.length >= count && resolve();
    told();
  });
  let pressed = 0;
  const text = () => document.querySelector('.note .text')?.textContent;
  let shown = text();
  addEventListener('keydown', (event) => { if (event.key === 'a') pressed = performance.now(); }, true);
  new MutationObserver(() => {
    const now = text();
    if (now === shown || !now || !pressed) return;
    shown = now;
    const began = pressed;
    pressed = 0;
    requestAnimationFrame(() => setTimeout(() => {
      waits.push(performance.now() - began);
      told();
    }));
  }).observe(document.body, { subtree: true, childList: true, characterData: true });`;

/** Measures how long a moderator waits for the next note after a decision. */
export const moderation: Bench = {
  name: 'console',
  async prepare(setting) {
    const executablePath = findChromium();
    if (!executablePath) {
      process.stdout.write('console: no Chromium found, left out\n');
      return [];
    }
    const { url, token } = await openDesk(setting);
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    setting.onEnd(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${url}/moderation`);
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.locator('.row').first().waitFor();
    const waits = (await decideAll(page)).sort((left, right) => left - right);
    const at = (part: number) => waits[Math.floor((waits.length - 1) * part)] ?? Number.NaN;
    process.stdout.write(
      `console, a key to the next note drawn, ${waits.length} decisions: p50 ${at(0.5).toFixed(1)} ms, ` +
        `p95 ${at(0.95).toFixed(1)} ms, max ${at(1).toFixed(1)} ms; ` +
        `aim p95 ${AIM_MS} ms: ${at(0.95) < AIM_MS ? 'met' : 'missed'}\n`,
    );
    return [];
  },
};

async function decideAll(page: Page): Promise<number[]> {
  await page.evaluate(WATCH);
  for (let n = 1; n < NOTES; n++) {
    await page.keyboard.press('a');
    // Playwright's own waiting uses eval, which the page's Content-Security-Policy forbids.
    await page.evaluate(`drawn(${n})`);
  }
  return (await page.evaluate('waits')) as number[];
}

async function openDesk(setting: BenchEnvironment): Promise<{ url: string; token: string }> {
  const server = createHttpServer((req, res) => void app(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = readConfig({
    DATABASE_URL: await setting.database('migrated'),
    BASE_URL: url,
    SERVER_KEYS: setting.serverKeys,
    LIMIT_NOTES_PER_TEN_MINUTES: '1000',
    LIMIT_NOTES_PER_DAY: '1000',
  });
  const core = await createCore(config, 'bench');
  const { app, stop } = await createApp(core, pino({ level: 'silent' }));
  setting.onEnd(async () => {
    stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await core.close();
  });
  const added = await addModerator(core, 'Bench', 'moderator');
  if (isRefusal(added)) throw new Error(added.refused);
  for (let n = 1; n <= NOTES; n++) {
    const body = JSON.stringify({ id: randomUUID(), name: 'Ada', message: `Note ${n}` });
    const headers = { 'content-type': 'application/json', origin: url };
    const answer = await fetch(`${url}/api/guestbook`, { method: 'POST', headers, body });
    if (answer.status !== 202) throw new Error(await answer.text());
  }
  return { url, token: added.token };
}
