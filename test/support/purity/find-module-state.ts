/**
 * Finds the state of a module: variables that live as long as the process and can be written. A pure module has none,
 * because with state two calls with the same arguments could differ. The rule looks at syntax alone and is strict: a
 * table that nobody writes must have a readonly type.
 */
import ts from "typescript";

const LASTING_TYPES = /^(readonly |Readonly(Map|Set|Array)?<)/;
/** Constructors whose fresh values hold nothing that a caller could change. */
const STATELESS = new Set(["TextDecoder", "TextEncoder", "RegExp"]);
const WRITING_METHODS = new Set(
  "add clear copyWithin delete fill pop push reverse set shift sort splice unshift".split(" "),
);
const STATEFUL_REGEXP_USES = new Set(["exec", "test", "lastIndex"]);

/** One sentence for each, with its line. */
export function findModuleState(text: string): readonly string[] {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest, true);
  const problems: string[] = [];
  const report = (node: ts.Node, what: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    problems.push(`${line + 1}: ${what}`);
  };
  const constants = new Set<string>();
  for (const statement of source.statements) {
    if (ts.isClassDeclaration(statement)) findStatics(statement, report);
    if (!ts.isVariableStatement(statement) || isDeclared(statement)) continue;
    const isConst = (statement.declarationList.flags & ts.NodeFlags.Const) !== 0;
    for (const declaration of statement.declarationList.declarations) {
      const name = declaration.name.getText();
      constants.add(name);
      if (!isConst) report(declaration, `\`${name}\` can be assigned to`);
      const problem = mutableValue(declaration);
      if (problem !== undefined) report(declaration, `\`${name}\` is ${problem}`);
    }
  }
  findWrites(source, constants, report);
  return problems;
}

type Report = (node: ts.Node, what: string) => void;

function isDeclared({ modifiers }: ts.VariableStatement): boolean {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) === true;
}

function findStatics(declaration: ts.ClassDeclaration, report: Report): void {
  for (const member of declaration.members) {
    if (!ts.isPropertyDeclaration(member)) continue;
    const kinds = (member.modifiers ?? []).map(({ kind }) => kind);
    if (!kinds.includes(ts.SyntaxKind.StaticKeyword)) continue;
    if (!kinds.includes(ts.SyntaxKind.ReadonlyKeyword)) report(member, "a static can be assigned");
  }
}

function mutableValue({ type, initializer }: ts.VariableDeclaration): string | undefined {
  if (initializer === undefined || isFrozen(initializer)) return undefined;
  const isLasting = type !== undefined && LASTING_TYPES.test(type.getText());
  const head = headOf(initializer);
  if (ts.isArrayLiteralExpression(head)) {
    return isLasting ? undefined : "an array that can be written: give it a readonly type";
  }
  if (ts.isRegularExpressionLiteral(head) && /y[a-z]*$/.test(head.text)) {
    return "a sticky expression, which keeps an offset";
  }
  const made = madeName(head);
  if (made === undefined || STATELESS.has(made)) return undefined;
  if (/^(Map|Set|Array)$/.test(made) && isLasting) return undefined;
  return `a new ${made} that can be written`;
}

function isFrozen(initializer: ts.Expression): boolean {
  if (ts.isAsExpression(initializer)) return initializer.type.getText() === "const";
  if (ts.isSatisfiesExpression(initializer)) return isFrozen(initializer.expression);
  return ts.isCallExpression(initializer) && initializer.expression.getText() === "Object.freeze";
}

/** What a chain of calls begins with: the literal, the `new`, or the call of a constructor's own method. */
function headOf(expression: ts.Expression): ts.Expression {
  if (ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression)) {
    return headOf(expression.expression);
  }
  if (ts.isParenthesizedExpression(expression)) return headOf(expression.expression);
  if (!ts.isCallExpression(expression)) return expression;
  const called = expression.expression;
  if (!ts.isPropertyAccessExpression(called)) return expression;
  const method = called.name.text;
  // Methods that return a text, a number or a boolean.
  if (/^(join|reduce|includes|indexOf|at|has|get|some|every)$/.test(method)) return expression;
  return ts.isIdentifier(called.expression) ? expression : headOf(called.expression);
}

/** The constructor behind `new X()`, `X.from()`, `X.of()` and `Array()`. */
function madeName(head: ts.Expression): string | undefined {
  if (ts.isNewExpression(head)) return head.expression.getText();
  if (!ts.isCallExpression(head)) return undefined;
  const text = head.expression.getText();
  return /^(\w*Array|Buffer)(\.(from|of|alloc\w*))?$/.exec(text)?.[1];
}

/** Assignments to members of the module's constants, calls that change them, and expressions that keep an offset. */
function findWrites(source: ts.SourceFile, constants: ReadonlySet<string>, report: Report): void {
  const globals = new Set(
    [...source.text.matchAll(/^(?:export )?const (\w+)[^=\n]* =\s*\/.*\/[a-z]*g[a-z]*;/gm)].map(
      (match) => match[1],
    ),
  );
  const visit = (node: ts.Node, hidden: ReadonlySet<string>): void => {
    const names = ts.isFunctionLike(node) ? new Set([...hidden, ...localNames(node)]) : hidden;
    const isOurs = (expression: ts.Expression): boolean => {
      const root = rootOf(expression);
      return root !== undefined && constants.has(root) && !names.has(root);
    };
    const target = writtenBy(node);
    if (target !== undefined && isOurs(target)) report(node, `\`${node.getText()}\` writes`);
    if (ts.isPropertyAccessExpression(node) && globals.has(node.expression.getText())) {
      if (STATEFUL_REGEXP_USES.has(node.name.text))
        report(node, `\`${node.getText()}\` keeps an offset`);
    }
    ts.forEachChild(node, (child) => visit(child, names));
  };
  visit(source, new Set());
}

function localNames(node: ts.Node): readonly string[] {
  const names: string[] = [];
  const visit = (child: ts.Node): void => {
    if (ts.isIdentifier(child) && isBinding(child)) names.push(child.text);
    ts.forEachChild(child, visit);
  };
  ts.forEachChild(node, visit);
  return names;
}

function isBinding({ parent, ...node }: ts.Identifier): boolean {
  const hasName =
    ts.isParameter(parent) || ts.isVariableDeclaration(parent) || ts.isBindingElement(parent);
  return hasName && parent.name.pos === node.pos;
}

function writtenBy(node: ts.Node): ts.Expression | undefined {
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    const isAssignment =
      kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
    return isAssignment && !ts.isIdentifier(node.left) ? node.left : undefined;
  }
  if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
    const isStep =
      node.operator === ts.SyntaxKind.PlusPlusToken ||
      node.operator === ts.SyntaxKind.MinusMinusToken;
    return isStep ? node.operand : undefined;
  }
  if (ts.isDeleteExpression(node)) return node.expression;
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression))
    return undefined;
  return WRITING_METHODS.has(node.expression.name.text) ? node.expression.expression : undefined;
}

function rootOf(expression: ts.Expression): string | undefined {
  if (ts.isIdentifier(expression)) return expression.text;
  const isAccess =
    ts.isPropertyAccessExpression(expression) || ts.isElementAccessExpression(expression);
  return isAccess ? rootOf(expression.expression) : undefined;
}
