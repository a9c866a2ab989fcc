import t from 'tap';
import { bayesFindings, newBayes } from '../../../services/screening/bayes.ts';
import { toSentence } from '../../../services/screening/sentences.ts';

function createTrained(approved: number, rejected: number) {
  const bayes = newBayes();
  for (let n = 0; n < approved; n++)
    bayes.learn({ message: `A fine garden, number ${n}, and thanks for the tea`, rejected: false });
  for (let n = 0; n < rejected; n++)
    bayes.learn({ message: `Casino jackpot bonus spins winner ${n} cash thanks`, rejected: true });
  return bayes;
}

const SPAM = 'Thanks: CASINO jackpot, bonus spins! Winner gets càsh in the garden';

t.test('gives no verdict below a hundred decisions', async (t) => {
  t.equal(createTrained(79, 20).judge(SPAM), null);
  t.ok(createTrained(80, 20).judge(SPAM));
});

t.test('gives no verdict while it knows mostly one kind', async (t) => {
  t.equal(createTrained(196, 4).judge(SPAM), null);
  t.equal(createTrained(0, 200).judge(SPAM), null);
  t.ok(createTrained(195, 5).judge(SPAM));
});

t.test('shows its five strongest words as they are written', async (t) => {
  const { findings, words } = bayesFindings(createTrained(80, 20), SPAM);
  t.match(findings, [{ code: 'reads_like_rejected', count: Number }]);
  t.strictSame(words.reads_like_rejected, ['CASINO', 'jackpot', 'bonus', 'spins', 'Winner']);
  t.match(
    toSentence({ code: 'reads_like_rejected', count: 97 }, words.reads_like_rejected),
    'reads like rejected notes (97 %): CASINO, jackpot, bonus, spins, Winner',
  );
});

t.test('has no finding for notes like approved ones or with unknown words', async (t) => {
  const bayes = createTrained(80, 20);
  for (const message of ['Thanks for the tea in the garden', 'Совсем другое', '', '👍'])
    t.strictSame(bayesFindings(bayes, message), { findings: [], words: {} }, message);
});
