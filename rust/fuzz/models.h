/* Models, steps and decoders drawn from the input, good and bad ones: whatever they are, a result or a failure. */
#ifndef ARROWPREP_FUZZ_MODELS_H
#define ARROWPREP_FUZZ_MODELS_H

#include "promises.h"

enum { MOST_TOKENS = 24, MOST_STEPS = 4, BERT_CUT = 65 };

typedef struct { uint8_t *text; int64_t ends[2 * MOST_TOKENS + 1]; } Drawn;

/* Strings of a small alphabet, of fuzzed bytes where `raw`. */
static arrowprep_strings strings_of(Input *in, Drawn *made, size_t count, size_t longest, int raw) {
  static const char *const letters[] = {"a", "b", "##", " ", "\xe2\x96\x81", "\xc3\xa9", "A", ".", "\xe4\xb8\xad", "<0x", "C3>", "\xcc\x81"};
  made->text = malloc(count * longest * 3 + 1);
  size_t size = 0;
  made->ends[0] = 0;
  for (size_t i = 0; i < count; made->ends[++i] = size)
    for (size_t left = byte(in) % (longest + 1); left; left--) {
      uint8_t drawn = byte(in);
      const char *letter = letters[drawn % 12];
      if (raw) made->text[size++] = drawn;
      else memcpy(made->text + size, letter, strlen(letter)), size += strlen(letter);
    }
  void *exact = block(made->text, size);
  free(made->text);
  made->text = exact;
  return (arrowprep_strings){exact, size, made->ends, count};
}

/* ---- definitions of two models, over whole texts */

static const arrowprep_model_parts *defined;

static int64_t token_of(const uint8_t *text, size_t size, int inside) {
  size_t prefix = inside ? defined->affix.size : 0;
  for (size_t i = 0; i < defined->tokens.count; i++) {
    const uint8_t *token = defined->tokens.data + defined->tokens.offsets[i];
    if ((size_t)(defined->tokens.offsets[i + 1] - defined->tokens.offsets[i]) != size + prefix) continue;
    if (prefix && memcmp(token, defined->affix.data, prefix)) continue;
    if (!memcmp(token + prefix, text, size)) return defined->ids[i];
  }
  return -1;
}

static size_t word_pieces(const uint8_t *text, size_t size, uint32_t *ids) {
  size_t count = 0;
  if (size && (size_t)characters((uint8_t *)text, size, 0) <= defined->longest)
    for (size_t at = 0, stop = size; stop > at; stop--) {
      int64_t id = token_of(text + at, stop - at, at > 0);
      if (id < 0) continue;
      ids[count++] = id, at = stop, stop = size + 1;
      if (at == size) return count;
    }
  if (size) ids[0] = defined->unknown;
  return size > 0;
}

static size_t level(const uint8_t *text, size_t size, uint32_t *ids) {
  int64_t id = token_of(text, size, 0);
  if (size) ids[0] = id < 0 ? defined->unknown : id;
  return size > 0;
}

/* ---- any model behind any steps */

static arrowprep_steps steps_of(Input *in, Drawn *texts, uint32_t *numbers, uint32_t *options, int raw) {
  size_t count = byte(in) % (MOST_STEPS + 1);
  for (size_t i = 0; i < count; i++) numbers[i] = byte(in) % 12, options[i] = byte(in) % 8;
  return (arrowprep_steps){numbers, options, strings_of(in, texts, 2 * count, 3, raw)};
}

static uint32_t cut_of(uint8_t drawn) { return drawn % 10 < 8 ? drawn % 10 : drawn % 10 == 8 ? 64 : BERT_CUT; }

static void spell_any(Input *in, uint8_t how) {
  uint8_t kind = byte(in) % 5, options = byte(in), cuts = byte(in), flags = byte(in);
  size_t count = byte(in) % (MOST_TOKENS + 1), merges = kind < 2 ? byte(in) % 16 : 0;
  uint32_t over_bytes = flags & 8 ? 256 : 0;
  Drawn tokens, affix, texts[2];
  uint32_t ids[MOST_TOKENS], numbers[2][MOST_STEPS], step_options[2][MOST_STEPS], ways[16][3];
  double scores[MOST_TOKENS];
  int raw = (flags & 3) == 3;
  arrowprep_model_parts parts = {.kind = kind, .options = options | over_bytes, .merges = merges};
  parts.tokens = strings_of(in, &tokens, count, 4, raw);
  parts.affix = strings_of(in, &affix, kind < 2 ? 3 : 1, 2, raw);
  for (size_t i = 0; i < count; i++) ids[i] = flags & 4 ? byte(in) << 17 : count - i, scores[i] = -(double)(byte(in) % 8);
  for (size_t i = 0; i < merges; i++) for (int side = 0; side < 3; side++) ways[i][side] = byte(in) % (MOST_TOKENS + 1);
  parts.ids = block(ids, count * 4), parts.scores = block(scores, count * 8), parts.ways = block(ways, merges * 12);
  parts.unknown = (int64_t)(byte(in) % (MOST_TOKENS + 6)) - 3, parts.longest = byte(in) % 16;
  arrowprep_steps before = steps_of(in, &texts[0], numbers[0], step_options[0], raw);
  arrowprep_steps after = steps_of(in, &texts[1], numbers[1], step_options[1], raw);
  Added in_raw, in_normalized;
  Layers drawn;
  arrowprep_layers layers = layers_of(in, &drawn);
  uint32_t cut_number = cut_of(cuts);
  /* the second stage does the same again */
  arrowprep_stage stages[2] = {{after, cuts & 64 ? &layers : NULL}, {after, cuts & 128 ? &layers : NULL}};
  arrowprep_pipeline_parts pipeline = {cut_number, before, stages, flags >> 4 & 3 ? 1 : 2,
                                       added(in, &in_raw, 100), added(in, &in_normalized, 200)};
  Cut made = cut(in, how);
  arrowprep_tokenizer *tokenizers[3];
  size_t there = 0;
  for (int size = 0; size < 3; size++) {
    arrowprep_failure failure = {0};
    parts.cache_bytes = (size_t[]){0, 64, 1 << 20}[size];
    arrowprep_model *model = arrowprep_model_new(&parts, &failure);
    if (!model) { check_failure(&failure); break; }
    arrowprep_tokenizer *tokenizer = arrowprep_tokenizer_new(model, &pipeline, &failure);
    arrowprep_model_free(model);
    if (!tokenizer) { check_failure(&failure); break; }
    tokenizers[there++] = tokenizer;
  }
  int plain = !cut_number && pipeline.stage_count == 1 && !(cuts & 64) && !before.texts.count && !after.texts.count &&
              !pipeline.in_raw.contents.count && !pipeline.in_normalized.contents.count;
  int bare = plain && kind > 2 && !(options & 8) && !over_bytes && parts.unknown >= 0 && !(flags & 4);
  for (size_t i = 0; i < count && bare; i++) /* of equal tokens any may count */
    for (size_t j = 0; j < i; j++)
      bare &= tokens.ends[i + 1] - tokens.ends[i] != tokens.ends[j + 1] - tokens.ends[j] ||
              memcmp(tokens.text + tokens.ends[i], tokens.text + tokens.ends[j], tokens.ends[i + 1] - tokens.ends[i]);
  defined = &parts;
  arrowprep_encoded *found = check_column(tokenizers, there, &made, !bare ? NULL : kind == 3 ? word_pieces : level);
  if (found) arrowprep_encoded_free(found);
  while (there) arrowprep_tokenizer_free(tokenizers[--there]);
  free((void *)parts.ids), free((void *)parts.scores), free((void *)parts.ways);
  free(tokens.text), free(affix.text), free(texts[0].text), free(texts[1].text);
  free_cut(&made);
}

/* ---- any decoder */

static void decode_any(Input *in, uint8_t how) {
  size_t count = byte(in) % (MOST_TOKENS + 1), rows = byte(in) % 8;
  Drawn tokens, firsts, strip;
  uint32_t ids[MOST_TOKENS];
  uint8_t flags[MOST_TOKENS];
  arrowprep_decoder_parts parts = {.form = how & 1, .most = byte(in) % 4};
  parts.tokens = strings_of(in, &tokens, count, 4, how & 2);
  parts.firsts = strings_of(in, &firsts, how & 4 ? how & 8 ? byte(in) % (MOST_TOKENS + 1) : count : 0, 4, how & 2);
  parts.strip = strings_of(in, &strip, 1, 1, how & 2);
  for (size_t i = 0; i < count; i++) ids[i] = how & 16 ? byte(in) << 9 : i, flags[i] = byte(in);
  parts.ids = block(ids, count * 4), parts.flags = block(flags, count);
  int32_t ends[8] = {0};
  for (size_t i = 1; i <= rows && rows < 8; i++) ends[i] = ends[i - 1] + byte(in) % 16;
  int32_t *column = malloc(in->left * 4), *offsets = block(ends, (rows + 1) * 4);
  for (size_t i = 0; i < in->left; i++) column[i] = how & 32 ? (int8_t)in->at[i] : in->at[i] % (MOST_TOKENS + 2);
  arrowprep_failure failure = {0};
  arrowprep_decoder *made = arrowprep_decoder_new(&parts, &failure);
  if (!made) check_failure(&failure);
  arrowprep_rows all = {column, in->left, offsets, 0, rows};
  arrowprep_decoded *decoded = made ? arrowprep_decode(made, &all, how >> 6 & 1, 2, &failure) : NULL;
  if (made && !decoded) check_failure(&failure);
  for (size_t row = 0; decoded && row < rows; row++) {
    size_t start = decoded->offsets[row], size = decoded->offsets[row + 1] - start;
    CHECK(start + size <= decoded->size);
    CHECK(how & 2 || characters((uint8_t *)decoded->text + start, size, 0) >= 0);
    int32_t alone_ends[2] = {ends[row], ends[row + 1]};
    arrowprep_rows one = {column, in->left, alone_ends, 0, 1};
    arrowprep_decoded *alone = arrowprep_decode(made, &one, how >> 6 & 1, 1, &failure);
    CHECK(alone && alone->size == size && (!size || !memcmp(alone->text, decoded->text + start, size)));
    arrowprep_decoded_free(alone);
  }
  if (decoded) arrowprep_decoded_free(decoded);
  if (made) arrowprep_decoder_free(made);
  free(column), free(offsets), free((void *)parts.ids), free((void *)parts.flags);
  free(tokens.text), free(firsts.text), free(strip.text);
}

#endif
