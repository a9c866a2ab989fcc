import type { Case, People } from '../../services/pages/site/view.ts';
import { UserText } from '../shared/text.tsx';
import { When } from '../shared/time.tsx';
import { PersonName, Tag } from './parts.tsx';

const STATES = {
  open: ['open', 'info'],
  claimed: ['claimed', 'look'],
  submitted: ['under review', 'look'],
  accepted: ['accepted', 'good'],
  withdrawn: ['withdrawn', ''],
} as const satisfies Record<Case['state'], readonly [string, string]>;

export function CaseState({ state }: { state: Case['state'] }) {
  const [word, kind] = STATES[state];
  return <Tag word={word} kind={kind} />;
}

/** Cases as lines; without `people`, all are of one author. */
export function CaseList({ cases, people }: { cases: readonly Case[]; people?: People }) {
  return (
    <ol class="lines">
      {cases.map((one) => (
        <li key={one.id}>
          <a href={`/cases/${one.id}`}>
            <UserText text={one.title} />
          </a>
          <p class="meta">
            <CaseState state={one.state} />
            {people && (
              <>
                {' '}
                · opened by <PersonName id={one.author_id} people={people} />
              </>
            )}
            {people && one.claim && (
              <>
                {' '}
                · claimed by <PersonName id={one.claim.member_id} people={people} />
              </>
            )}{' '}
            · <When at={one.created_at} />
          </p>
        </li>
      ))}
    </ol>
  );
}
