import { recordPath } from '../../services/pages/site/record-path.ts';
import type { People, Result, ViewOf } from '../../services/pages/site/view.ts';
import { Alert } from '../shared/alert.tsx';
import { foreign } from '../shared/text.tsx';
import { When } from '../shared/time.tsx';
import { MarkedText } from './marked.tsx';
import { Empty, Pager } from './parts.tsx';
import { SearchForm } from './search-form.tsx';

const WORDS: Readonly<Record<Result['kind'], string>> = {
  note: 'Note by',
  member: 'Member',
  artifact: 'Packet',
  case: 'Case',
};

export function Search(view: ViewOf<'search'>) {
  const { words, of, results, count, complete, people, problem, older } = view;
  return (
    <>
      <h1>Search</h1>
      <SearchForm words={words} of={of} />
      {problem && <Alert>{problem}</Alert>}
      {results?.length === 0 && (
        <Empty>
          {complete
            ? 'Nothing public contains all of these words. Try fewer of them.'
            : 'Nothing was found among the newest records. Try rarer words.'}
        </Empty>
      )}
      {results && results.length > 0 && (
        <p class="meta" role="status">
          {complete ? '' : 'At least '}
          {count} {count === 1 ? 'result' : 'results'}
        </p>
      )}
      {results && results.length > 0 && (
        <ol class="records">
          {results.map((result) => (
            <Found key={result.id} result={result} people={people} />
          ))}
        </ol>
      )}
      <Pager older={older} word="Older results" />
    </>
  );
}

function Found({ result, people }: { result: Result; people: People }) {
  const href = recordPath(result, people);
  const title = (
    <>
      {WORDS[result.kind]}{' '}
      <bdi {...foreign(result.title)} class="foreign">
        <MarkedText text={result.title} marks={result.titleMarks} />
      </bdi>
    </>
  );
  return (
    <li>
      <h2>{href ? <a href={href}>{title}</a> : title}</h2>
      <p class="meta">
        {result.attribution && <>{result.attribution} · </>}
        <When at={result.at} />
      </p>
      <p {...foreign(result.excerpt)} class="prose short foreign">
        <MarkedText text={result.excerpt} marks={result.marks} />
      </p>
    </li>
  );
}
