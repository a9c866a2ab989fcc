import { recordPath } from '../../services/pages/site/record-path.ts';
import type { ActivityEntry, People, ViewOf } from '../../services/pages/site/view.ts';
import { dayOf, Empty, Pager, PersonName, RecordLink, When } from './parts.tsx';

const WORDS: Readonly<Record<ActivityEntry['type'], string>> = {
  'note.approved': 'A note was approved',
  'profile.published': 'published a profile',
  'artifact.published': 'published a packet',
  'case.opened': 'opened a case',
  'case.claimed': 'claimed a case',
  'case.submitted': 'submitted work to a case',
  'case.accepted': 'accepted work on a case',
};

export function Activity({ entries, people, older }: ViewOf<'activity'>) {
  const days = Map.groupBy(entries, ({ occurred_at }) => dayOf(occurred_at));
  return (
    <>
      <h1>Activity</h1>
      <p class="lead">What happened in public, newest first.</p>
      {entries.length === 0 && <Empty>Nothing has happened in public yet.</Empty>}
      {[...days].map(([day, ofDay]) => (
        <section key={day} aria-label={day}>
          <h2>{day}</h2>
          <ol class="lines">
            {ofDay.map((entry) => (
              <li key={entry.id}>
                <Line entry={entry} people={people} />
              </li>
            ))}
          </ol>
        </section>
      ))}
      <Pager older={older} word="Older activity" />
    </>
  );
}

function Line({ entry, people }: { entry: ActivityEntry; people: People }) {
  const { actor, type, title, subject, occurred_at } = entry;
  const href = recordPath({ kind: subject.type, id: subject.id }, people);
  return (
    <>
      {actor.type === 'member' && actor.id && (
        <>
          <PersonName id={actor.id} people={people} />{' '}
        </>
      )}
      {WORDS[type]}: <RecordLink href={href} title={title} />{' '}
      <span class="hint">
        <When at={occurred_at} />
      </span>
    </>
  );
}
