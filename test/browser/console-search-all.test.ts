import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { currentText, openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';
import { furnishSite } from '../support/site.ts';

t.test(
  'finds notes, members, records and decisions by one search over all views',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const { ada, lead, note, caseId, openId } = await furnishSite(service);
    const waiting = await submit(service, { message: 'Where is the telescope kept?', name: 'Zoe' });
    const refused = await submit(service, { message: 'Telescope for sale', name: 'Shop' });
    await decide(lead, refused.id, 'reject');
    const { page } = await openConsole(t, service, await addModerator(service, 'Ann'));
    const part = (title: string) => page.locator('.found', { hasText: title });
    const lines = (title: string) => part(title).getByRole('link').allInnerTexts();

    // By keys alone, from the list.
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.keyboard.type('telescope');
    await part('Waiting (1)')
      .getByRole('link', { name: /Note by Zoe/ })
      .waitFor();
    await untilEqual(t, () => lines('Decided (2)'), [
      'Note by Shop, rejected',
      'Note by Eve, approved',
    ]);
    await untilEqual(t, () => lines('Public members, packets and cases'), [
      'Packet: Where the telescope points now',
      'Packet: Where the telescope points',
    ]);
    await untilEqual(t, () => page.url(), `${service.baseUrl}/moderation/search?q=telescope`);
    await checkAppearance(t, page, 'moderation-search-all');

    const field = page.getByLabel('Search everything');
    await field.fill('second moon');
    await part('Public members').getByRole('link', { name: 'Case: Find the second moon' }).click();
    await page.locator('.note', { hasText: 'Find the second moon' }).waitFor();
    await untilEqual(t, () => page.url(), `${service.baseUrl}/moderation/items/case/${caseId}`);
    await page.goBack();
    await part('Public members')
      .getByRole('link', { name: /second moon/ })
      .waitFor();
    t.equal(await field.inputValue(), 'second moon', 'Back leads to the results');

    await field.fill('Lia');
    await part('Decisions of a moderator of this name').getByRole('link').nth(1).waitFor();
    await untilEqual(t, () => part('Decisions of a moderator').locator('li').count(), 2);

    for (const [id, name] of [
      [note.id, /Note by Eve/],
      [openId, /Case: Name the comet/],
      [ada.id, /Member: Ada of the observatory/],
    ] as const) {
      await field.fill(id);
      await part('The item with this id').getByRole('link', { name }).first().waitFor();
    }
    await field.fill(waiting.id.toUpperCase());
    await part('The item with this id')
      .getByRole('link', { name: /Note by Zoe/ })
      .click();
    await untilEqual(t, () => currentText(page), 'Where is the telescope kept?');

    await page.goto(`${service.baseUrl}/moderation/search?q=nothing+has+these+words`);
    await part('Waiting (0)').getByText('Nothing.').waitFor();
    await untilEqual(t, () => page.locator('.found').getByText('Nothing.').count(), 6);
    await checkAppearance(t, page, 'moderation-search-all-nothing');
  },
);

t.test('leads from a part of the search to all that it found', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  for (let n = 1; n <= 7; n++) await submit(service, { message: `A comet, seen ${n} times` });
  const { page } = await openConsole(t, service, ann);
  await page.getByRole('link', { name: 'Search', exact: true }).click();
  await page.getByLabel('Search everything').fill('comet');
  const waiting = page.locator('.found', { hasText: 'Waiting (5 or more)' });
  await waiting.getByRole('link', { name: /^All of them/ }).click();
  await page.locator('.row').nth(6).waitFor();
  await untilEqual(t, () => page.url(), `${service.baseUrl}/moderation?q=comet`);
});
