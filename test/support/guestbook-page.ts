import { randomBytes } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import { type Visit, visit } from './browser.ts';
import { type Service, startService } from './service.ts';
import { startWorker } from './worker.ts';

/** Starts the whole service for a visitor: web, worker and database. */
export async function startGuestbook(t: Test, settings: Record<string, string> = {}) {
  const shared = { SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`, ...settings };
  const service = await startService(t, shared);
  await startWorker(t, {
    ...shared,
    DATABASE_URL: service.database.url,
    BASE_URL: service.baseUrl,
  });
  return service;
}

/** Opens a guestbook, or a note, and waits until the script has taken the page over. */
export async function visitGuestbook(
  t: Test,
  service: Service,
  options: Parameters<typeof visit>[2] & { path?: string } = {},
): Promise<Visit> {
  const { path = '/', ...more } = options;
  const visited = await visit(t, service.baseUrl + path, more);
  await visited.page.getByRole('button', { name: /^Write a (?:note|reply)…$/ }).waitFor();
  return visited;
}

/** Joins as a new member and returns the content of the downloaded key file. */
export async function join({ page }: Visit, handle: string): Promise<Record<string, string>> {
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByLabel('Handle').fill(handle);
  await page.getByRole('button', { name: 'Create keys' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download key file' }).click();
  const file = await readDownload(await downloading);
  await page.getByLabel('I saved my keys').check();
  await page.getByRole('button', { name: `Join as ${handle}` }).click();
  await accountLink(page, handle).waitFor();
  return file;
}

/** Signs in with the content of a key file. */
export async function signIn({ page }: Pick<Visit, 'page'>, keys: Record<string, string>) {
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Key file').setInputFiles(toKeyFile(JSON.stringify(keys)));
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await accountLink(page, keys.handle ?? '').waitFor();
}

/** The link to the account of the member who is signed in, which has the handle in its name. */
export const accountLink = (page: Page, handle: string): Locator =>
  page.getByRole('link', { name: `Your account, ${handle}` });

/** Signs out once the page has read all that it shows: a read after the end of the session would be refused. */
export async function endSession(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.getByRole('button', { name: 'Sign out' }).click();
}

/** Signs out on the page of the account, and goes back to the page before. */
export async function signOut(page: Page, handle: string): Promise<void> {
  // What that page reads: a read that came after the end of the session would be refused.
  const reads = ['/api/membership/sessions', '/api/membership/notes'].map(async (path) => {
    const response = await page.waitForResponse(
      (one) => new URL(one.url()).pathname === path && one.frame().url().endsWith('/me'),
    );
    await response.finished();
  });
  await accountLink(page, handle).click();
  await Promise.all(reads);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  await page.getByRole('banner').getByRole('button', { name: 'Join' }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
}

/**
 * Opens another tab that shares the profile's storage. It shows a plain text, because a second
 * guestbook would itself write to the storage and make the first tab follow unexpectedly.
 */
export async function openSecondTab({ page, context }: Visit) {
  const other = await context.newPage();
  await other.goto(new URL('/llms.txt', page.url()).href);
  const endSession = () => other.evaluate("localStorage.removeItem('guestbook.session-until')");
  return { endSession };
}

export async function readDownload(download: {
  createReadStream(): Promise<AsyncIterable<Buffer>>;
}): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>;
}

/** Begins a note and returns its text field. */
export async function beginNote({ page }: Pick<Visit, 'page'>, message: string): Promise<Locator> {
  await page.getByRole('button', { name: 'Write a note…' }).click();
  const field = page.getByLabel('Your note', { exact: true });
  await field.fill(message);
  return field;
}

/** Writes and sends a note, and waits until it shows as waiting for review. */
export async function sendNote({ page }: Visit, message: string): Promise<void> {
  const field = await beginNote({ page }, message);
  await page.getByRole('button', { name: 'Send for review' }).click();
  await field.waitFor({ state: 'detached' });
  const own = page.locator('.own-note', { hasText: message });
  await own.getByText('Waiting for review', { exact: true }).waitFor();
}

/** Waits until the page shows this confirmation, large enough to be seen. */
export async function untilConfirmed(page: Page, text: string): Promise<void> {
  const toast = page.locator('.toast', { hasText: text });
  await toast.waitFor();
  const { width = 0, height = 0 } = (await toast.boundingBox()) ?? {};
  if (width < 100 || height < 20) throw new Error(`too small to be seen: ${text}`);
}

/** A key file, as if chosen from the disk. */
export const toKeyFile = (text: string) => ({
  name: 'keys.json',
  mimeType: 'application/json',
  buffer: Buffer.from(text),
});
