import { recordPath } from '../../services/pages/site/record-path.ts';
import type { People, Result, ViewOf } from '../../services/pages/site/view.ts';
import { Alert } from '../shared/alert.tsx';
import { MarkedText } from './marked.tsx';
import { Empty, Pager, RecordLink, When } from './parts.tsx';
import { SearchForm } from './search-form.tsx';

const WORDS: Readonly<Record<Result['kind'], string>> = {
  note: 'Note by',
  member: 'Member',
  artifact: 'Packet',
  case: 'Case',
};

export function Search({ words, of, results, people, problem, older }: ViewOf<'search'>) {
  return (
    <>
      <h1>Search</h1>
      <SearchForm words={words} of={of} />
      {problem && <Alert>{problem}</Alert>}
      {results?.length === 0 && (
        <Empty>Nothing public contains all of these words. Try fewer of them.</Empty>
      )}
      {results && results.length > 0 && (
        <ol class="records">
          {results.map((result) => (
            <Found key={result.id} result={result} words={words} people={people} />
          ))}
        </ol>
      )}
      <Pager older={older} word="Older results" />
    </>
  );
}

function Found({ result, words, people }: { result: Result; words: string; people: People }) {
  return (
    <li>
      <h2>
        {WORDS[result.kind]} <RecordLink href={recordPath(result, people)} title={result.title} />
      </h2>
      <p class="meta">
        <When at={result.at} />
      </p>
      <p class="prose short foreign" dir="auto">
        <MarkedText text={result.excerpt} words={words} />
      </p>
    </li>
  );
}
