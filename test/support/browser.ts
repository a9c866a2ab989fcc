import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type Request,
  type Response,
  type Route,
} from 'playwright-core';
import type { Test } from 'tap';
import { findChromium } from '../../harness/programs.ts';
import { delayNetwork } from './late-network.ts';
import { onProcessEnd } from './process-end.ts';
import { type ConsoleFault, type PageAnswer, withoutRetried } from './retried-answers.ts';

const SCREENSHOTS = join(import.meta.dirname, '..', 'browser', 'screenshots');
const TAKES_SCREENSHOTS = process.env.SCREENSHOTS === 'true';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How long a test waits for what a page should show; a busy machine may take a minute. */
const PATIENCE_MS = 120_000;

/** To find races: maximum random delay of each request and each response. */
const LATE_MS = Number(process.env.LATE_MS ?? 0);

/** To find races: how many times slower than this machine the pages' scripts and layout run. */
const SLOW_BROWSER = Number(process.env.TEST_SLOW_BROWSER ?? 1);

/** Sizes and colour schemes of the screenshots; axe checks each size and each scheme once. */
const LOOKS = [
  { name: 'wide-light', width: 1280, height: 900, colorScheme: 'light', axeChecked: true },
  { name: 'wide-dark', width: 1280, height: 900, colorScheme: 'dark', axeChecked: false },
  { name: 'narrow-light', width: 360, height: 740, colorScheme: 'light', axeChecked: false },
  { name: 'narrow-dark', width: 360, height: 740, colorScheme: 'dark', axeChecked: true },
] as const;

/** Options for `t.test(name, NEEDS_BROWSER, …)`: reports the test as skipped without Chromium. */
export const NEEDS_BROWSER = findChromium()
  ? {}
  : {
      skip: 'no Chromium found: put chromium-headless-shell or chromium on PATH, or set CHROMIUM_PATH',
    };

let browser: Browser | undefined;

/** Launches Chromium, one for all files of a process, and again after a crash. */
async function openBrowser(): Promise<Browser> {
  if (browser?.isConnected()) return browser;
  const executablePath = findChromium();
  if (!executablePath) throw new Error('No Chromium');
  const launched = await chromium.launch({
    executablePath,
    args: [
      // Needed as root, and in containers with a small /dev/shm.
      '--no-sandbox',
      '--disable-dev-shm-usage',
      // Pages and axe run for too short a time to repay V8's optimizing compilers.
      '--js-flags=--no-maglev,--no-turbofan',
    ],
  });
  onProcessEnd(() => launched.close());
  browser = launched;
  return launched;
}

export type Visit = Awaited<ReturnType<typeof visit>>;

/**
 * Opens a page in a new browser profile. Errors and warnings in the browser's console, including
 * those of the Content-Security-Policy, fail the test unless `expected` matches, or `retries` says that the page repeats
 * what is answered with 503, and a repeat was served. The script `first` runs before those of the page. A failing test prints the page's text and
 * its last requests.
 */
export async function visit(
  t: Test,
  url: string,
  options: BrowserContextOptions & { expected?: RegExp; first?: string; retries?: boolean } = {},
) {
  const { expected, first, retries = false, ...more } = options;
  const context = await (await openBrowser()).newContext({
    viewport: { width: 1280, height: 900 },
    ...more,
  });
  // Interception turns the HTTP cache off, which Back needs on a page without scripts.
  if (LATE_MS > 0 && more.javaScriptEnabled !== false) await delayNetwork(context, LATE_MS);
  if (SLOW_BROWSER > 1) context.on('page', (page) => void slowDown(page).catch(() => undefined));
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  if (first) await page.addInitScript(first);
  const faults: ConsoleFault[] = [];
  const answers: PageAnswer[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      faults.push({ text: message.text(), url: message.location().url });
  });
  page.on('pageerror', (error) => faults.push({ text: String(error), url: page.url() }));
  const foreignRequests: string[] = [];
  const requests = new Map<Request, string>();
  page.on('response', (response) => {
    const request = response.request();
    requests.set(request, `${response.status()}`);
    const { 'idempotency-key': key } = request.headers();
    const same = JSON.stringify([request.method(), request.url(), key, request.postData()]);
    answers.push({ status: response.status(), url: response.url(), request: same });
  });
  page.on('request', (request) => {
    requests.set(request, 'no answer yet');
    if (
      !/^(data|blob):/.test(request.url()) &&
      new URL(request.url()).origin !== new URL(url).origin
    )
      foreignRequests.push(request.url());
  });
  t.teardown(async () => {
    // If the test waited in vain, the page and its last requests show what was there instead.
    if (!t.passing()) {
      t.comment(await page.innerText('body').catch(String));
      for (const [request, answer] of [...requests].slice(-20))
        t.comment(`${request.method()} ${request.url()} ${request.postData() ?? ''} ${answer}`);
    }
    await context.close();
    // Fail the parent: the test has ended, and a throwing teardown would prevent later teardowns.
    const fail = (fault: string) => (t.parent as Test).fail(`${t.name}: ${fault}`);
    const left = retries ? withoutRetried(faults, answers) : faults;
    const unexpected = left.map(({ text }) => text).filter((text) => !expected?.test(text));
    if (unexpected.length > 0) fail(`the browser console reports: ${unexpected.join('\n')}`);
    if (foreignRequests.length > 0) fail(`requests to other origins: ${foreignRequests.join(' ')}`);
  });
  await page.goto(url);
  return { page, context };
}

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW_BROWSER });
}

/**
 * Lets the test answer a page's requests. Interception starts with a delay, so the page requests
 * /livez until the test answers that too. The /livez route stays, since removing the last route
 * would release requests that are still held.
 */
export async function intercept(
  page: Page,
  pattern: string | RegExp,
  answer: (route: Route) => Promise<unknown>,
  options: { times?: number } = {},
): Promise<void> {
  await page.route(pattern, answer, options);
  await page.route('**/livez', (route) => route.fulfill({ status: 204 }));
  while ((await page.evaluate("fetch('/livez').then(({ status }) => status)")) !== 204);
}

/**
 * Holds one request of a page, or its response: `arrived` resolves when it has arrived, `release`
 * lets it continue, and `deliver` also waits until the page has handled the response.
 */
export async function holdRequest(
  page: Page,
  pattern: string | RegExp,
  what: 'request' | 'answer',
) {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let held: Request | undefined;
  await intercept(
    page,
    pattern,
    async (route) => {
      held = route.request();
      const response = what === 'answer' ? await route.fetch() : undefined;
      arrived.resolve();
      await released.promise;
      await (response ? route.fulfill({ response }) : route.continue());
    },
    { times: 1 },
  );
  const deliver = () => {
    // Not the response to another request, which the pattern matches as well.
    const answered = page.waitForResponse((response) => response.request() === held);
    released.resolve();
    return untilHandled(page, answered);
  };
  return { arrived: arrived.promise, release: released.resolve, deliver };
}

/** Waits until a response has arrived and the page has had 100 ms to handle it. */
export async function untilHandled(page: Page, answer: Promise<Response>): Promise<void> {
  await (await answer).finished();
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))');
}

/**
 * Waits until an expression is true in the page. The test polls, because polling in
 * the page would evaluate a string, which the Content-Security-Policy forbids.
 */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  for (let waited = 0; !(await page.evaluate(expression)); waited += 50) {
    if (waited > PATIENCE_MS) throw new Error(`Never true in the page: ${expression}`);
    await sleep(50);
  }
}

/**
 * Checks what the page shows, and waits for it: a scroll position, an address or a text
 * can follow an action a moment later.
 */
export async function untilEqual<Value>(
  t: Test,
  read: () => Value | Promise<Value>,
  expected: Value,
  message = '',
): Promise<void> {
  let value = await read();
  for (let waited = 0; !isDeepStrictEqual(value, expected) && waited < PATIENCE_MS; waited += 50) {
    await sleep(50);
    value = await read();
  }
  t.strictSame(value, expected, message);
}

/** Clicks and returns the name of the focused field, before any other key press or frame. */
export const focusAfterClick = (button: Locator): Promise<string> =>
  button.evaluate(async (element) => {
    element.click();
    await Promise.resolve();
    return element.ownerDocument.activeElement.name;
  });

/** Resolves after the next frame, with transitions at their end. */
const SETTLE = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  .then(() => document.getAnimations().forEach((animation) => animation.finish()))`;

/** Saves what the page shows, with `SCREENSHOTS=true`. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  if (!TAKES_SCREENSHOTS) return;
  const path = join(SCREENSHOTS, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled' });
}

/** Checks the current state with axe and for sideways overflow, in each look. */
export async function checkAppearance(t: Test, page: Page, name: string): Promise<void> {
  const size = page.viewportSize();
  for (const { name: looks, width, height, colorScheme, axeChecked } of LOOKS) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(SETTLE);
    await saveScreenshot(page, `${name}-${looks}`);
    if (axeChecked) t.strictSame(await axeViolations(page), [], `axe on ${name}, ${looks}`);
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    t.ok(Number(overflow) <= 0, `${name}, ${looks}: nothing overflows sideways`);
  }
  if (size) await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Returns axe's violations, one line per element, for all rules or the given ones. */
export async function axeViolations(page: Page, rules = RULES): Promise<string[]> {
  await page.evaluate(AXE);
  return (await page.evaluate(`axe.run(document, {
    runOnly: ${JSON.stringify(rules)},
  }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`)) as string[];
}
