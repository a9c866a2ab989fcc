import type { Case, People } from '../../services/pages/site/view.ts';
import { UserText } from '../shared/text.tsx';
import { PersonName, Tag, When } from './parts.tsx';

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

/** Cases as a table; without `people`, all are of one author. */
export function CaseTable({ cases, people }: { cases: readonly Case[]; people?: People }) {
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>
            <th scope="col">Case</th>
            <th scope="col">State</th>
            {people && <th scope="col">Opened by</th>}
            {people && <th scope="col">Claimed by</th>}
            <th scope="col">Opened</th>
          </tr>
        </thead>
        <tbody>
          {cases.map((one) => (
            <tr key={one.id}>
              <th scope="row">
                <a href={`/cases/${one.id}`}>
                  <UserText text={one.title} />
                </a>
              </th>
              <td>
                <CaseState state={one.state} />
              </td>
              {people && (
                <td>
                  <PersonName id={one.author_id} people={people} />
                </td>
              )}
              {people && (
                <td>{one.claim && <PersonName id={one.claim.member_id} people={people} />}</td>
              )}
              <td>
                <When at={one.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
