import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { NEEDS_BROWSER, untilEqual, untilTrue } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';

/** Keeps what the page shows as a notification, and lets the test hide the page. */
const RECORDED = `
  window.shown = [];
  window.Notification = class extends Notification {
    constructor(title, options) {
      super(title, options);
      window.shown.push([title, options.body]);
    }
  };
  Object.defineProperty(document, 'hidden', { get: () => window.isAway === true });
`;

t.test('counts in the title and the icon, and calls who asked for it', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { page, context } = await openConsole(t, service, ann, { first: RECORDED });
  await context.grantPermissions(['notifications', 'clipboard-read', 'clipboard-write']);
  const icon = () => page.evaluate(`decodeURIComponent(document.querySelector('[rel=icon]').href)`);
  await untilEqual(t, () => page.title(), 'To do · Moderation');
  const plain = await icon();
  await submit(service, { message: 'A secret word' });
  await untilEqual(t, () => page.title(), '(1) To do · Moderation');
  t.match(await icon(), />1<\/text>/);
  t.same(await page.evaluate('shown'), [], 'not without being asked');

  await page.getByLabel('Notify me').check();
  await untilTrue(page, `localStorage.getItem('moderation.notify') === 'on'`);
  await submit(service, { message: 'Seen by a moderator who looks' });
  await untilEqual(t, () => page.title(), '(2) To do · Moderation');
  t.same(await page.evaluate('shown'), [], 'not while the page is looked at');
  await page.evaluate('window.isAway = true');
  await submit(service, { message: 'Another secret' });
  await untilEqual(t, () => page.evaluate('shown'), [['Moderation', '3 to do']]);

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  await untilEqual(t, icon, plain);
  t.equal(await page.title(), 'Moderation');
});
