/* A libFuzzer target over the whole border: what include/arrowprep.h promises, on any bytes.
 *
 * Every buffer that goes in is a heap block of exactly its length, so that AddressSanitizer
 * sees each byte read beyond it. A panic that the border caught counts as a finding too.
 * Models and their caches live as long as the process: "warm" is warm of earlier inputs. */
#include "models.h"
#include "promises.h"

enum { MERGES = 300, TOKENS = 256 + MERGES, LONGEST_TOKEN = 24 };

/* ---- a model of all bytes and pseudo-random merges */

typedef struct { uint8_t bytes[LONGEST_TOKEN]; size_t size; } Token;

static Token known[TOKENS];
static uint32_t operands[MERGES][2];

static arrowprep_model *models[2][3]; /* by ignore_merges; no cache, a tiny one, a large one */
static arrowprep_decoder *decoder;

static size_t spell(const Token *token, uint8_t *out) { /* in byte characters */
  size_t size = 0;
  for (size_t i = 0; i < token->size; i++) {
    uint32_t letter = token->bytes[i];
    if (letter <= 32) letter += 256;
    else if (letter >= 127 && letter <= 160) letter += 256 + 33 - 127;
    else if (letter == 173) letter = 256 + 67;
    if (letter >= 128) out[size++] = 0xc0 | letter >> 6, out[size++] = 0x80 | (letter & 63);
    else out[size++] = letter;
  }
  return size;
}

static void make_tokens(void) {
  static const uint8_t common[] = " etaoin sr\n12.'\xc3\xa9\xe3\x81\x82\xcc\x81";
  uint32_t seed = 12345;
  for (size_t i = 0; i < 256; i++) known[i] = (Token){{(uint8_t)i}, 1};
  for (size_t made = 0; made < MERGES;) {
    uint32_t pair[2];
    for (int side = 0; side < 2; side++) {
      seed = seed * 1664525 + 1013904223;
      pair[side] = made && seed >> 31 ? 256 + (seed >> 8) % made : common[(seed >> 8) % (sizeof common - 1)];
    }
    Token left = known[pair[0]], right = known[pair[1]];
    if (left.size + right.size > LONGEST_TOKEN) continue;
    memcpy(left.bytes + left.size, right.bytes, right.size);
    left.size += right.size;
    size_t same = 0;
    while (same < 256 + made && (known[same].size != left.size || memcmp(known[same].bytes, left.bytes, left.size))) same++;
    if (same < 256 + made) continue;
    memcpy(operands[made], pair, sizeof pair);
    known[256 + made++] = left;
  }
}

static void make_models(void) {
  static uint8_t text[TOKENS * LONGEST_TOKEN * 2], special[TOKENS];
  static int64_t ends[TOKENS + 1];
  static uint32_t ids[TOKENS], ways[MERGES][3];
  make_tokens();
  for (size_t i = 0; i < TOKENS; i++) ids[i] = i, ends[i + 1] = ends[i] + spell(&known[i], text + ends[i]);
  for (size_t i = 0; i < MERGES; i++) memcpy(ways[i], operands[i], sizeof operands[i]), ways[i][2] = 256 + i;
  arrowprep_strings tokens = {text, ends[TOKENS], ends, TOKENS};
  for (int ignore = 0; ignore < 2; ignore++)
    for (int size = 0; size < 3; size++)
      CHECK(models[ignore][size] = arrowprep_model_new(
                &(arrowprep_model_parts){0, ignore, tokens, ids, NULL, ways, MERGES, NO_STRINGS, -1, 0, (size_t[]){0, 64, 1 << 20}[size]}, NULL));
  CHECK(decoder = arrowprep_decoder_new(&(arrowprep_decoder_parts){0, tokens, NO_STRINGS, ids, special, NO_STRINGS, 0}, NULL));
}

/* The definition: the first rule of the list that applies anywhere, at its leftmost place. */
static size_t merged(const uint8_t *text, size_t size, uint32_t *ids) {
  for (size_t i = 0; i < size; i++) ids[i] = text[i];
  for (size_t rule = 0; rule < MERGES;) {
    size_t at = 0;
    while (at + 1 < size && (ids[at] != operands[rule][0] || ids[at + 1] != operands[rule][1])) at++;
    if (at + 1 >= size) { rule++; continue; }
    ids[at] = 256 + rule;
    memmove(ids + at + 1, ids + at + 2, (--size - at - 1) * sizeof *ids);
    rule = 0;
  }
  return size;
}

static void check_round_trip(const arrowprep_encoded *encoded, const Cut *made) {
  int32_t *ids = block(encoded->ids, encoded->tokens * 4), *offsets = block(encoded->offsets, (encoded->texts + 1) * 4);
  arrowprep_rows rows = {ids, encoded->tokens, offsets, 0, encoded->texts};
  arrowprep_decoded *decoded = arrowprep_decode(decoder, &rows, 0, 1, NULL);
  CHECK(decoded);
  for (size_t row = 0; row < encoded->texts; row++) {
    if (!made->there[row] || is_left(encoded, row)) continue;
    size_t size = made->ends[row + 1] - made->ends[row];
    CHECK((size_t)(decoded->offsets[row + 1] - decoded->offsets[row]) == size);
    CHECK(!size || !memcmp(decoded->text + decoded->offsets[row], made->texts.data + made->ends[row], size));
  }
  arrowprep_decoded_free(decoded);
  free(ids), free(offsets);
}

/* ---- the functions, one kind of input each */

/* options: 1 text is normalized to NFC, 2 a space is put before what begins with none */
static arrowprep_tokenizer *tokenizer_of(const arrowprep_model *model, uint32_t cut, uint32_t options, const arrowprep_layers *layers,
                                         arrowprep_added in_raw, arrowprep_added in_normalized, arrowprep_failure *failure) {
  static const uint32_t none[1], compose[1] = {4}, lead[1] = {3};
  static const int64_t ends[3];
  const arrowprep_strings texts[2] = {NO_STRINGS, {NULL, 0, ends, 2}};
  arrowprep_stage stage = {{lead, none, texts[options >> 1 & 1]}, layers};
  arrowprep_pipeline_parts parts = {cut, {compose, none, texts[options & 1]}, &stage, 1, in_raw, in_normalized};
  return arrowprep_tokenizer_new(model, &parts, failure);
}

static void encode(Input *in, uint8_t how) {
  uint8_t pipeline = byte(in);
  uint32_t grammar = pipeline % 8, options = pipeline / 8 % 4;
  Added raw, normalized;
  arrowprep_added in_raw = added(in, &raw, TOKENS), in_normalized = added(in, &normalized, TOKENS);
  int none_added = !in_raw.contents.count && !in_normalized.contents.count;
  Cut made = cut(in, how);
  arrowprep_tokenizer *tokenizers[3];
  for (int size = 0; size < 3; size++)
    CHECK(tokenizers[size] = tokenizer_of(models[how >> 3 & 1][size], grammar, options, NULL, in_raw, in_normalized, NULL));
  int defined = !grammar && !options && none_added && !(how & 8);
  arrowprep_encoded *found = check_column(tokenizers, 3, &made, defined ? merged : NULL);
  if (found && !options && none_added) check_round_trip(found, &made);
  if (found) arrowprep_encoded_free(found);
  for (int size = 0; size < 3; size++) arrowprep_tokenizer_free(tokenizers[size]);
  free_cut(&made);
}

/* Whatever offsets and null bits say: a result or a failure. */
static void garbage(Input *in, uint8_t how) {
  arrowprep_added none = {NO_STRINGS, NULL, NULL};
  uint8_t pipeline = byte(in);
  arrowprep_failure failure = {0};
  Layers drawn;
  arrowprep_layers layers = layers_of(in, &drawn);
  arrowprep_tokenizer *tokenizer = tokenizer_of(
      models[0][1], pipeline, pipeline >> 6, how & 16 ? &layers : NULL, none, none, &failure);
  if (!tokenizer) { check_failure(&failure); return; }
  size_t width = how & 1 ? 8 : 4, count = byte(in) % 8, size = (count + 1) * width;
  uint8_t raw[64];
  for (size_t i = 0; i < size; i++) raw[i] = byte(in);
  if (how & 2) for (size_t i = 0; i < size; i++) if (i % width) raw[i] = 0; /* small ones: near the truth */
  void *offsets = block(raw, size);
  uint8_t bits = byte(in), *valid = how & 4 ? block(&bits, 1) : NULL;
  uint8_t *data = block(in->at, in->left);
  arrowprep_texts texts = {data, in->left, offsets, how & 1, count, valid, 0};
  arrowprep_encoded *found = arrowprep_encode(tokenizer, &texts, how >> 3 & 1, 1 + (how >> 4 & 1), &failure);
  if (found) arrowprep_encoded_free(found); else check_failure(&failure);
  int32_t *ids = block(in->at, in->left / 4 * 4);
  arrowprep_rows rows = {ids, in->left / 4, offsets, how & 1, count};
  arrowprep_decoded *decoded = arrowprep_decode(decoder, &rows, how >> 3 & 1, 1 + (how >> 2 & 1), &failure);
  if (decoded) arrowprep_decoded_free(decoded); else check_failure(&failure);
  free(offsets), free(valid), free(data), free(ids);
  arrowprep_tokenizer_free(tokenizer);
}

/* A pipeline without added tokens, and a counter over it. */
static void count(Input *in, uint8_t how) {
  uint8_t cuts = byte(in), options = byte(in);
  Drawn texts[2];
  uint32_t numbers[2][MOST_STEPS], step_options[2][MOST_STEPS], left[2][MOST_ROWS];
  arrowprep_pipeline_parts parts = {.cut = cut_of(cuts), .before = steps_of(in, &texts[0], numbers[0], step_options[0], 0)};
  arrowprep_stage stage = {.steps = steps_of(in, &texts[1], numbers[1], step_options[1], 0)};
  parts.stages = &stage, parts.stage_count = 1;
  Layers drawn;
  arrowprep_layers layers = layers_of(in, &drawn);
  if (cuts & 64) stage.layers = &layers;
  Cut made = cut(in, how);
  arrowprep_counted_pieces *found[2] = {0};
  int64_t left_count[2] = {0};
  for (int turn = 0; turn < 2; turn++) {
    arrowprep_failure failure = {0};
    arrowprep_counter *counter = arrowprep_counter_new(&parts, options, &failure);
    if (!counter) { check_failure(&failure); continue; }
    uint32_t *room = malloc(made.texts.count * 4);
    left_count[turn] = arrowprep_counter_feed(counter, &made.texts, turn + 1, room, &failure);
    if (left_count[turn] < 0) check_row(&failure, &made);
    else {
      CHECK(made.whole && (size_t)left_count[turn] <= made.texts.count && (found[turn] = arrowprep_counted(counter, &failure)));
      if (left_count[turn]) memcpy(left[turn], room, left_count[turn] * 4);
    }
    free(room);
    arrowprep_counter_free(counter);
  }
  CHECK(left_count[0] == left_count[1] && !found[0] == !found[1]);
  if (found[0]) {
    CHECK(left_count[0] == 0 || !memcmp(left[0], left[1], left_count[0] * 4));
    CHECK(found[0]->count == found[1]->count && found[0]->size == found[1]->size);
    CHECK(!memcmp(found[0]->offsets, found[1]->offsets, (found[0]->count + 1) * 8));
    CHECK(!found[0]->size || !memcmp(found[0]->data, found[1]->data, found[0]->size));
    CHECK(!found[0]->count || !memcmp(found[0]->counts, found[1]->counts, found[0]->count * 8));
    CHECK(!found[0]->count || !memcmp(found[0]->texts, found[1]->texts, found[0]->count * 8));
  }
  for (int turn = 0; turn < 2; turn++) if (found[turn]) arrowprep_counted_free(found[turn]);
  free(texts[0].text), free(texts[1].text);
  free_cut(&made);
}

/* Words of fuzzed ids, lengths and counts. Learning in steps is learning at once. */
static void learn(Input *in, uint8_t how) {
  enum { LETTERS = 8, ROOM = 40 };
  size_t words = byte(in) % MOST_ROWS;
  int64_t ends[MOST_ROWS + 1] = {0}, counts[MOST_ROWS], letter_ends[LETTERS + 1], prefix_ends[2] = {0, how & 1 ? 2 : 0};
  for (size_t i = 0; i < words; i++) ends[i + 1] = ends[i] + (how & 2 ? (int8_t)byte(in) : byte(in) % 16), counts[i] = byte(in) % 9;
  uint64_t most = how & 4 ? byte(in) % 8 : UINT64_MAX;
  for (size_t i = 0; i <= LETTERS; i++) letter_ends[i] = i;
  uint32_t *ids = malloc(in->left * 4);
  for (size_t i = 0; i < in->left; i++) ids[i] = how & 8 ? in->at[i] : in->at[i] % LETTERS;
  int64_t *offsets = block(ends, (words + 1) * 8), *times = block(counts, words * 8);
  arrowprep_strings tokens = {(const uint8_t *)"##abcdef", LETTERS, letter_ends, LETTERS};
  arrowprep_strings prefix = {(const uint8_t *)"##", prefix_ends[1], prefix_ends, 1};
  arrowprep_merge merges[2][ROOM] = {0};
  size_t made[2] = {0};
  for (int turn = 0; turn < 2; turn++) {
    arrowprep_failure failure = {0};
    arrowprep_learner *learner = arrowprep_learner_new(ids, in->left, offsets, times, words, &tokens, &prefix, most, &failure);
    if (!learner) { check_failure(&failure); continue; }
    for (size_t step = turn ? 3 : ROOM, got = step; got == step && made[turn] < ROOM; made[turn] += got) {
      if (step > ROOM - made[turn]) step = ROOM - made[turn];
      got = arrowprep_learn(learner, 40, 1, merges[turn] + made[turn], step, &failure);
      if (got == SIZE_MAX) check_failure(&failure);
      CHECK(got <= step);
    }
    arrowprep_learner_free(learner);
  }
  CHECK(made[0] == made[1] && !memcmp(merges[0], merges[1], sizeof merges[0]));
  free(ids), free(offsets), free(times);
}

static void lay_out(Input *in, uint8_t how) {
  size_t rows = byte(in) % 8, width = how & 1 ? 1 : 4, size = byte(in), around = how >> 1 & 3;
  int64_t numbers[4][8];
  for (size_t i = 0; i < 4; i++) for (size_t row = 0; row < rows; row++) numbers[i][row] = how & 8 ? INT64_MAX - byte(in) : (int8_t)byte(in);
  int64_t *copies[4];
  for (size_t i = 0; i < 4; i++) copies[i] = block(numbers[i], rows * 8);
  void *frame = calloc(around, width), *out = malloc(size * width), *column = block(in->at, in->left / width * width);
  arrowprep_layout layout = {rows, copies[0], copies[1], copies[2], copies[3], frame, around, frame, around, width};
  arrowprep_failure failure = {0};
  if (arrowprep_lay_out(&layout, how & 16 ? NULL : column, in->left / width, 7, 9, out, size, &failure)) check_failure(&failure);
  for (size_t i = 0; i < 4; i++) free(copies[i]);
  free(frame), free(out), free(column);
}

/* What was read: texts that are found where they are, and numbers of some of them. */
static void check_parts(arrowprep_parts *parts, size_t size) {
  CHECK(parts->vocab[1] <= size && parts->merges_at[1] <= size && parts->map_at[1] <= size);
  for (size_t i = 0; i < parts->count; i++) {
    size_t start = parts->offsets[i], stop = parts->offsets[i + 1];
    CHECK(start <= stop && stop <= parts->size && characters((uint8_t *)parts->data + start, stop - start, 0) >= 0);
    CHECK(arrowprep_find(parts, parts->data + start, stop - start) == (int64_t)i);
  }
  for (size_t i = 0; i < 3 * parts->merges; i++) CHECK((size_t)parts->ways[i] < parts->count);
  arrowprep_parts_free(parts);
}

/* A SentencePiece model, a .tiktoken file, a tekken.json, or what follows their beginnings. */
static void read_format(Input *in, uint8_t how) {
  static const char *const begins[] = {"\x0a\x0c\x0a\x03<a>\x15\0\0\xc0\xbf\x18\x02", "IQ== 0\nYWI= 1\n",
                                       "{\"vocab\":[{\"rank\":0,\"token_bytes\":\"IQ==\"}"};
  static const size_t lengths[] = {14, 14, 41};
  arrowprep_parts *(*const readers[])(const uint8_t *, size_t, arrowprep_failure *) = {
      arrowprep_read_pieces, arrowprep_read_ranks, arrowprep_read_tekken};
  size_t before = how & 4 ? lengths[how % 3] : 0, size = before + in->left;
  uint8_t *content = malloc(size);
  memcpy(content, begins[how % 3], before);
  if (in->left) memcpy(content + before, in->at, in->left);
  arrowprep_failure failure = {0};
  arrowprep_parts *parts = readers[how % 3](content, size, &failure);
  if (parts) check_parts(parts, size); else check_failure(&failure);
  free(content);
}

/* A tokenizer.json, or what follows its beginning; read again without what was taken out. */
static void read_file(Input *in, uint8_t how) {
  static const char *const begins[] = {"", "{\"model\":", "{\"model\":{\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[", "{\"model\":{\"vocab\":[["};
  const char *begin = begins[how % 4];
  size_t before = strlen(begin), size = before + in->left;
  uint8_t *json = malloc(size);
  memcpy(json, begin, before);
  if (in->left) memcpy(json + before, in->at, in->left);
  arrowprep_failure failure = {0};
  arrowprep_parts *parts = arrowprep_read(json, size, &failure);
  if (!parts) check_failure(&failure); else {
    CHECK(parts->vocab[0] < parts->vocab[1]);
    check_parts(parts, size);
  }
  int64_t ends[4] = {0, in->left / 3, in->left / 2, in->left};
  arrowprep_strings tokens = {json + before, in->left, ends, 3};
  if ((parts = arrowprep_every_way(&tokens, &failure))) arrowprep_parts_free(parts); else check_failure(&failure);
  free(json);
}

/* JSON Lines, or what follows the beginning of a line; texts are UTF-8 where the lines are. */
static void read_lines(Input *in, uint8_t how) {
  static const char *const begins[] = {"", "{\"a\":", "{\"t\":\"", "{\"f\":1.5,\"t\":null}\n{\"a\":1,\"b\":true,\"t\":\""};
  const char *begin = begins[how % 4];
  size_t before = strlen(begin), size = before + in->left;
  uint8_t *json = malloc(size);
  memcpy(json, begin, before);
  if (in->left) memcpy(json + before, in->at, in->left);
  int64_t ends[5] = {0, 1, 2, 3, 4};
  uint8_t kinds[4] = {1, 0, 2, 3};
  void *names = block("abft", 4);
  arrowprep_strings fields = {names, 4, ends, 4};
  arrowprep_failure failure = {0};
  arrowprep_lines *lines = arrowprep_read_lines(json, size, &fields, kinds, &failure);
  if (!lines) check_failure(&failure); else {
    static const size_t widths[4] = {8, 0, 8, 0};
    for (size_t i = 0; i < 4; i++) {
      const arrowprep_line_column *column = &lines->columns[i];
      size_t nulls = 0;
      for (size_t row = 0; column->nulls && row < lines->rows; row++) nulls += !(column->valid[row / 8] >> row % 8 & 1);
      CHECK(nulls == column->nulls && (!widths[i] || column->size == lines->rows * widths[i]));
    }
    CHECK(lines->columns[1].size == (lines->rows + 7) / 8);
    const arrowprep_line_column *texts = &lines->columns[3];
    CHECK(texts->offsets[0] == 0 && (size_t)texts->offsets[lines->rows] == texts->size && texts->size <= size);
    for (size_t row = 0; row < lines->rows; row++) CHECK(texts->offsets[row] <= texts->offsets[row + 1]);
    CHECK(characters(json, size, 0) < 0 || characters(texts->values, texts->size, 0) >= 0);
    arrowprep_lines_free(lines);
  }
  free(json), free(names);
}

int LLVMFuzzerInitialize(int *count, char ***words) {
  (void)count, (void)words;
  CHECK(arrowprep_abi()); /* which number it is, whoever loads the library checks */
  fprintf(stderr, "border: %s path\n", arrowprep_cpu() ? "AVX2" : "portable");
  make_models();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static void (*const kinds[])(Input *, uint8_t) = {encode, encode, garbage, count, learn, lay_out, read_file, read_lines, read_format, spell_any, spell_any, decode_any};
  Input in = {data, size};
  uint8_t kind = byte(&in), how = byte(&in);
  kinds[kind % (sizeof kinds / sizeof *kinds)](&in, how);
  return 0;
}
