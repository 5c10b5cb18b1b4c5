interface NewExpression {
  callee: { type: string; name?: string };
  arguments: unknown[];
}

interface RuleContext {
  report(problem: { node: unknown; message: string }): void;
}

/** `Date.parse(text)` and `new Date(ms)` are pure, `new Date()` reads the clock: no built-in rule tells them apart. */
const noClock = {
  create: (context: RuleContext) => ({
    NewExpression(node: NewExpression) {
      if (node.callee.type === 'Identifier' && node.callee.name === 'Date' && node.arguments.length === 0) {
        context.report({ node, message: 'core is pure: take the time from the snapshot.' });
      }
    },
  }),
};

export default { meta: { name: 'purity' }, rules: { 'no-clock': noClock } };
