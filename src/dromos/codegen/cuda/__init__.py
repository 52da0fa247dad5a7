"""Programs as CUDA C++: structures for their state, and their functions as the kernels call them."""

from dromos.codegen.cuda.hooks import hooks_text
from dromos.codegen.cuda.structures import Member, context_members, edge_members, field_members, merged_members

__all__ = ["Member", "context_members", "edge_members", "field_members", "hooks_text", "merged_members"]
