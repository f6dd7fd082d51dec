#include "ir/whole.h"
void twi_check_cover(tw_ir *ir) { (void)ir; }
tw_ir *twi_ir_parse(tw_context *ctx, twi_arena *arena, const char *name, const char *text, size_t n) { (void)ctx;(void)arena;(void)name;(void)text;(void)n; return NULL; }
