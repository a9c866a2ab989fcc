import { decide, type Moderator, submit } from '../../harness/moderation.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import type { Service } from './service.ts';

const NOTES = [
  ['See http://10.0.0.1 and http://10.0.0.2 and example.com, shit', 'reject'],
  ['BUY NOW BUY NOW BUY NOW http://10.0.0.1 shit, b@example.com', 'reject'],
  ['Thank you for http://10.0.0.3 and example.org, shit', 'approve'],
  ['Thank you for the observatory', 'approve'],
  ['Nothing to see here', 'reject'],
  ['Just one link: https://example.com/a?b=c', 'reject'],
  ['A quiet word', null],
] as const;

/** Submits seven notes, screens them, and decides on all but the last. */
export async function screenAndDecide(service: Service, moderator: Moderator): Promise<void> {
  for (const [message, decision] of NOTES) {
    const { id } = await submit(service, { message, name: 'Ada' });
    await screenNote(service.core, { note_id: id });
    if (decision) await decide(moderator, id, decision);
  }
}
